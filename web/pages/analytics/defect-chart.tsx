import styled from 'styled-components';
import type { DefectCounts } from '#common/api/analytics.ts';
import { DEFECT_KINDS, type DefectKind } from '#common/report.ts';
import { videoTexts } from '../../texts/videos.ts';
import { colour, figures, screen, space, text } from '../../theme.ts';
import { niceTop } from './figures.ts';

const List = styled.dl`
  display: grid;
  gap: ${space(1.25)};
  font-size: ${text.s};
  div {
    display: grid;
    grid-template-columns: minmax(0, 1fr);
    ${screen.tablet} {
      grid-template-columns: 180px minmax(0, 1fr);
    }
  }
  dt {
    color: ${colour.inkSoft};
  }
  dd {
    ${figures}
    display: grid;
    grid-template-columns: minmax(0, 1fr) 6ch;
    align-items: center;
    font-weight: 600;
    text-align: right;
  }
`;
const Thread = styled.svg`
  width: 100%;
  height: 10px;
`;

/** The kinds that were found, most frequent first; equally frequent ones keep the order of the report. */
export function rankDefects(
  counts: DefectCounts,
): readonly { readonly kind: DefectKind; readonly count: number }[] {
  return DEFECT_KINDS.map((kind) => ({ kind, count: counts[kind] }))
    .filter(({ count }) => count > 0)
    .toSorted((a, b) => b.count - a.count);
}

/**
 * One thread per kind of defect, with a length proportional to its frequency; the figures are text, and the threads
 * repeat them.
 */
export function DefectChart({ counts }: { readonly counts: DefectCounts }) {
  const ranked = rankDefects(counts);
  const top = niceTop(ranked.map(({ count }) => count));
  return (
    <List>
      {ranked.map(({ kind, count }) => (
        <div key={kind}>
          <dt>{videoTexts.defects[kind]}</dt>
          <dd>
            <Thread aria-hidden="true">
              <line
                x1="0"
                x2="100%"
                y1="5"
                y2="5"
                stroke={colour.chalk}
                strokeWidth="2"
                strokeDasharray="12 8"
              />
              <line
                x1="0"
                x2={`${(count / top) * 100}%`}
                y1="5"
                y2="5"
                stroke={colour.liveThread}
                strokeWidth="6"
                strokeDasharray="14 4"
              />
            </Thread>
            {count}
          </dd>
        </div>
      ))}
    </List>
  );
}
