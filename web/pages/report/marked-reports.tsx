import styled from 'styled-components';
import { Moment } from '../../components/moment.tsx';
import { useQuickFixes } from '../../data/videos/quick-fixes.ts';
import { reportTexts } from '../../texts/report.ts';
import { space } from '../../theme.ts';
import { Onward } from './report-parts.ts';

const { marked: texts } = reportTexts;

const List = styled.ul`
  display: grid;
  gap: ${space(0.5)};
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
          <Onward to={`/videos/${videoId}/report/${id}`}>{texts.link}</Onward> <Moment iso={createdAt} />
        </li>
      ))}
    </List>
  );
}
