import styled from 'styled-components';
import { ButtonLink } from './button.tsx';
import { PageHeading, PageMain } from './page.tsx';
import { ThreadStrip } from './thread-strip.tsx';
import { appTexts } from '../texts/app.ts';
import { colour, space } from '../theme.ts';

const { notFound: texts } = appTexts;

const Column = styled(PageMain)`
  display: grid;
  align-content: center;
  justify-items: start;
  gap: ${space(3)};
  --strip-ground: ${colour.cloth};
  & > div {
    width: min(520px, 100%);
  }
`;

const TORN = [
  { id: 'gap', kind: 'dropped_frames', startMs: 40, endMs: 62, outcome: 'left_alone', label: '' },
] as const;

/** @param text what does not exist, if more is known than the address */
export function NotFound({ text = texts.text }: { readonly text?: string }) {
  return (
    <Column>
      <PageHeading title={texts.title}>{texts.title}</PageHeading>
      <div>
        <ThreadStrip marks={TORN} durationMs={100} size="l" />
      </div>
      <p>{text}</p>
      <ButtonLink to="/" icon="arrowLeft">
        {texts.home}
      </ButtonLink>
    </Column>
  );
}
