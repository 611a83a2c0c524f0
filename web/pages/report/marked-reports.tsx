import { Link } from 'react-router-dom';
import styled from 'styled-components';
import { Moment } from '../../components/moment.tsx';
import { useQuickFixes } from '../../data/videos/quick-fixes.ts';
import { reportTexts } from '../../texts/report.ts';
import { space } from '../../theme.ts';

const { marked: texts } = reportTexts;

const List = styled.ul`
  display: grid;
  gap: ${space(0.5)};
  a {
    display: inline-flex;
    align-items: center;
    min-height: 44px;
    font-weight: 600;
  }
`;

/** Leads to the reports of what somebody marked in a video after its repair, newest first; nothing without any. */
export function MarkedReports({ videoId }: { readonly videoId: string }) {
  const { data } = useQuickFixes(videoId);
  const reported = (data?.versions ?? []).filter(({ kind, hasReport }) => kind === 'fixes' && hasReport);
  if (reported.length === 0) return null;
  return (
    <List aria-label={texts.list}>
      {reported.map(({ id, createdAt }) => (
        <li key={id}>
          <Link to={`/videos/${videoId}/report/${id}`}>{texts.link}</Link> <Moment iso={createdAt} />
        </li>
      ))}
    </List>
  );
}
