import styled from 'styled-components';
import { PageColumn, PageHeading, PageLead } from '../../components/page.tsx';
import { useSession } from '../../data/account/session.ts';
import { accountTexts as texts } from '../../texts/account.ts';
import { screen, space } from '../../theme.ts';
import { AccessTokens } from './access-tokens.tsx';
import { DataCard } from './data-card.tsx';
import { DeleteForm } from './delete-form.tsx';
import { NoticeCard } from './notice-card.tsx';
import { PasswordForm } from './password-form.tsx';
import { PlanCard } from './plan-card.tsx';
import { StorageCard } from './storage-card.tsx';

const Columns = styled.div`
  display: grid;
  grid-template-columns: minmax(0, 1fr);
  gap: ${space(3)};
  ${screen.desktop} {
    grid-template-columns: repeat(2, minmax(0, 1fr));
  }
`;

/** The account page: plan, storage, data, password, notices, access tokens, and deletion. */
export function AccountPage() {
  const { user } = useSession();
  if (!user) return null;
  return (
    <PageColumn>
      <div>
        <PageHeading title={texts.title}>{texts.title}</PageHeading>
        <PageLead>{texts.lead}</PageLead>
      </div>
      <Columns>
        <PlanCard user={user} />
        <StorageCard />
        <NoticeCard />
        <DataCard />
      </Columns>
      <AccessTokens plan={user.plan} />
      <Columns>
        <PasswordForm />
        <DeleteForm user={user} />
      </Columns>
    </PageColumn>
  );
}
