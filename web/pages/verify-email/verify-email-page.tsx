import { useEffect, useRef } from 'react';
import { useSearchParams } from 'react-router-dom';
import styled from 'styled-components';
import { ButtonLink } from '../../components/button.tsx';
import { Icon } from '../../components/icons.tsx';
import { PageHeading, PageMain } from '../../components/page.tsx';
import { Spinner } from '../../components/spinner.tsx';
import { ApiError } from '../../data/api-client.ts';
import { useVerifyEmail } from '../../data/account/account.ts';
import { authTexts } from '../../texts/auth.ts';
import { colour, space } from '../../theme.ts';

const { verify: texts } = authTexts;

const Middle = styled(PageMain)`
  display: grid;
  place-content: center;
  justify-items: center;
  gap: ${space(2)};
  text-align: center;
  p {
    max-width: 44ch;
    color: ${colour.inkSoft};
  }
`;
const Sign = styled.span<{ $good: boolean }>`
  color: ${({ $good }) => ($good ? colour.ok : colour.defect)};
`;

/** The text for a failed verification (specification section 8). */
function verificationProblem(error: unknown): string {
  if (!(error instanceof ApiError)) return texts.network;
  return error.serverMessage || texts.expired;
}

/** Verifies the token of a mailed link by one call. */
export function VerifyEmailPage() {
  const [search] = useSearchParams();
  const token = search.get('token') ?? '';
  const { mutate, isSuccess, error } = useVerifyEmail();
  const asked = useRef(false);
  useEffect(() => {
    if (token === '' || asked.current) return;
    asked.current = true;
    mutate(token);
  }, [token, mutate]);

  const problem = token === '' ? texts.noToken : error ? verificationProblem(error) : null;
  if (problem !== null)
    return (
      <Middle>
        <Sign $good={false}>
          <Icon name="alert" size={40} />
        </Sign>
        <PageHeading title={texts.failed} key="failed">
          {texts.failed}
        </PageHeading>
        <p role="alert">{problem}</p>
        <ButtonLink to="/auth">{texts.backToLogin}</ButtonLink>
      </Middle>
    );
  if (isSuccess)
    return (
      <Middle>
        <Sign $good>
          <Icon name="check" size={40} />
        </Sign>
        <PageHeading title={texts.success} key="success">
          {texts.success}
        </PageHeading>
        <p>{texts.successText}</p>
        <ButtonLink to="/">{texts.toLogin}</ButtonLink>
      </Middle>
    );
  return (
    <Middle>
      <Spinner size={32} />
      <PageHeading title={texts.title} key="loading">
        {texts.loading}
      </PageHeading>
    </Middle>
  );
}
