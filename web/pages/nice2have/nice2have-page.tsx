import styled from 'styled-components';
import { BackLink } from '../../components/back-link.tsx';
import { PageColumn, PageHeading, PageLead } from '../../components/page.tsx';
import { ideaTexts as texts } from '../../texts/ideas.ts';
import { screen, space } from '../../theme.ts';
import { IdeaForm } from './idea-form.tsx';
import { IdeaList } from './idea-list.tsx';
import { Leaders } from './leaders.tsx';

const Columns = styled.div`
  display: grid;
  align-items: start;
  gap: ${space(3)};
  ${screen.desktop} {
    grid-template-columns: minmax(240px, 300px) minmax(0, 1fr) minmax(240px, 290px);
  }
`;

/** The community board: submit an idea, vote for others, see the leaders. */
export function Nice2HavePage() {
  return (
    <PageColumn>
      <div>
        <BackLink to="/">{texts.back}</BackLink>
        <PageHeading title={texts.title}>{texts.title}</PageHeading>
        <PageLead>{texts.lead}</PageLead>
      </div>
      <Columns>
        <IdeaForm />
        <IdeaList />
        <Leaders />
      </Columns>
    </PageColumn>
  );
}
