import styled from 'styled-components';
import { type Defect, DEFECT_KINDS, type DefectKind } from '#common/report.ts';
import { Badge } from '../../components/badge.tsx';
import { formatMark } from '../../components/time-text.ts';
import { OUTCOME_TONES } from '../../panels/outcome-tones.ts';
import { outcomeOf, outcomeWord } from '../../texts/outcomes.ts';
import { reportTexts } from '../../texts/report.ts';
import { videoTexts } from '../../texts/videos.ts';
import { colour, space, text } from '../../theme.ts';

const { kinds: texts } = reportTexts;

const List = styled.ul`
  display: grid;
  gap: ${space(1)};
  li {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: ${space(0.5, 1)};
  }
`;
const Where = styled.span`
  font-size: ${text.s};
  color: ${colour.inkSoft};
`;

/** Kinds of defects that are counted in pictures. */
const OF_PICTURES: ReadonlySet<DefectKind> = new Set([
  'stuttered_cut',
  'dropped_frames',
  'corrupted_section',
]);

interface Group {
  readonly kind: DefectKind;
  readonly first: Defect;
  readonly places: number;
  /** Null where pictures are not counted. */
  readonly pictures: number | null;
}

/** Groups defects by kind and outcome, in the order of the kinds. */
function groupsOf(defects: readonly Defect[]): Group[] {
  return DEFECT_KINDS.flatMap((kind) => {
    const mine = defects.filter((defect) => defect.kind === kind);
    const ends = new Set(mine.map(endOf));
    return [...ends].flatMap((end) => {
      const alike = mine.filter((defect) => endOf(defect) === end);
      const [first] = alike;
      const pictures = alike.reduce((sum, { count }) => sum + count, 0);
      // A lost index counts no pictures.
      const counted = OF_PICTURES.has(kind) && pictures > 0 && first?.measure.unit !== 'indexes';
      return first ? [{ kind, first, places: alike.length, pictures: counted ? pictures : null }] : [];
    });
  });
}

const endOf = ({ outcome, action }: Defect) => outcomeOf(outcome, action);

/** What was wrong and how it ended, one line per kind, to be understood at a glance. */
export function KindSummary({ defects }: { readonly defects: readonly Defect[] }) {
  if (defects.length === 0) return null;
  return (
    <List aria-label={texts.title}>
      {groupsOf(defects).map(({ kind, first, places, pictures }) => (
        <li key={`${kind} ${endOf(first)}`}>
          <Badge tone={OUTCOME_TONES[endOf(first)]}>{outcomeWord(first.outcome, first.action)}</Badge>
          <strong>{videoTexts.defects[kind]}</strong>
          <Where>{texts.where(pictures, places, formatMark(first.startMs))}</Where>
        </li>
      ))}
    </List>
  );
}
