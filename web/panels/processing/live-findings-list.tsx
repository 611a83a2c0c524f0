import styled from 'styled-components';
import type { LiveDefect, LiveFindings } from '#common/live-findings.ts';
import type { DefectKind } from '#common/report.ts';
import { formatMark } from '../../components/time-text.ts';
import { videoTexts } from '../../texts/videos.ts';
import { colour, space, text, visuallyHidden } from '../../theme.ts';
import { type DefectEntry, DefectList } from './defect-list.tsx';

const { live: texts } = videoTexts;

/** As high as the six steps beside it, so that nothing moves when defects arrive. */
const Region = styled.div`
  display: grid;
  align-content: start;
  gap: ${space(1)};
  height: 240px;
  overflow: auto;
`;
/** Rows that need no scrolling on a phone, where each has two lines; a longer list must be reachable by keyboard. */
const FITS = 3;
const Hint = styled.p`
  font-size: ${text.s};
  color: ${colour.inkFaint};
`;
const Announcement = styled.span`
  ${visuallyHidden}
`;

const OF_PICTURES: ReadonlySet<DefectKind> = new Set([
  'stuttered_cut',
  'dropped_frames',
  'corrupted_section',
]);

function entryOf({ id, kind, startMs, endMs, count, state, action }: LiveDefect): DefectEntry {
  const explanation = OF_PICTURES.has(kind)
    ? texts.frames(count)
    : `${formatMark(startMs)} – ${formatMark(endMs)}`;
  return { id, kind, startMs, outcome: state, action, explanation };
}

/** Every defect of a clip as soon as it is found, and every repair as soon as it is made. */
export function LiveFindingsList({ findings }: { readonly findings: LiveFindings | null }) {
  const defects = findings?.defects ?? [];
  const unlisted = (findings?.total ?? 0) - defects.length;
  return (
    <Region role="group" aria-label={videoTexts.live.region} tabIndex={defects.length > FITS ? 0 : undefined}>
      {/* Present from the start, because screen readers announce only regions that were empty before. */}
      <Announcement role="status">{findings ? texts.announce(findings.total) : ''}</Announcement>
      {defects.length === 0 ? (
        <Hint>{findings ? texts.nothing : texts.looking}</Hint>
      ) : (
        <>
          <DefectList defects={defects.map(entryOf)} unchanged={false} compact />
          {unlisted > 0 && <Hint>{texts.more(unlisted)}</Hint>}
          <Hint>{texts.checked}</Hint>
        </>
      )}
    </Region>
  );
}
