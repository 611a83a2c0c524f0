import type { ReactNode } from 'react';
import styled from 'styled-components';
import type { Defect } from '#common/report.ts';
import { formatTimecode } from '#common/format.ts';
import { Button } from '../../components/button.tsx';
import { Badge } from '../../components/badge.tsx';
import { DataTable, TableScroll } from '../../components/data-table.tsx';
import { formatFigure } from '../../components/figure-text.ts';
import { explanationParts } from '../../components/explanation-parts.ts';
import { meaningOf } from '../../texts/meanings.ts';
import { outcomeOf, outcomeWord } from '../../texts/outcomes.ts';
import { reportTexts } from '../../texts/report.ts';
import { videoTexts } from '../../texts/videos.ts';
import { EXPERT } from './expert.ts';
import { colour, figures, font, space, text, visuallyHidden } from '../../theme.ts';
import { OUTCOME_TONES } from '../../panels/outcome-tones.ts';

const { defects: texts } = reportTexts;

const Table = styled(DataTable)`
  td.words {
    min-width: 26ch;
  }
  @media screen {
    && tr[data-folded] {
      display: none;
    }
  }
  /* On a phone each defect is a card of named figures, so that nothing is out of sight. */
  @media screen and (max-width: 759.98px) {
    min-width: 0;
    &,
    tbody {
      display: block;
    }
    thead {
      ${visuallyHidden}
    }
    tr {
      display: grid;
      grid-template-columns: repeat(2, minmax(0, 1fr));
      padding: ${space(1)} 0;
      border-bottom: 1px solid ${colour.line};
    }
    tr:last-child {
      border-bottom: 0;
    }
    tr > * {
      padding: ${space(0.75, 1.5)};
      border-bottom: 0;
      overflow-wrap: anywhere;
    }
    th,
    td.words {
      grid-column: 1 / -1;
      min-width: 0;
    }
    td::before {
      display: block;
      color: ${colour.inkFaint};
      font-family: ${font.text};
      font-size: ${text.xs};
      content: attr(data-name);
    }
    .number {
      white-space: normal;
    }
  }
  @media print {
    min-width: 0;
    font-size: 10px;
    tr {
      break-inside: avoid;
    }
  }
`;
const More = styled.div`
  display: grid;
  justify-items: center;
  @media print {
    display: none;
  }
`;
const Small = styled.span`
  display: block;
  font-weight: 400;
  color: ${colour.inkFaint};
`;

const Figures = styled.dl`
  display: grid;
  gap: ${space(0.25)};
  margin-top: ${space(0.5)};
  div {
    display: flex;
    flex-wrap: wrap;
    gap: ${space(0, 1)};
  }
  dt {
    color: ${colour.inkFaint};
  }
  dd {
    ${figures}
    margin: 0;
  }
`;

/** Rows shown at first: more of the same show nothing new, and would fill a phone. */
const SHOWN_FIRST = 12;

/**
 * The rows hidden at first: repaired defects beyond the first rows. Defects that were left need attention and come
 * first.
 */
function foldedOf(defects: readonly Defect[]): ReadonlySet<string> {
  const isMended = ({ outcome }: Defect) => outcome === 'repaired';
  const first = [...defects.filter((one) => !isMended(one)), ...defects.filter(isMended)];
  return new Set(first.slice(SHOWN_FIRST).map(({ id }) => id));
}

interface DefectTableProps {
  readonly defects: readonly Defect[];
  /** Whether all rows are shown; on paper they always are. */
  readonly whole: boolean;
  readonly onWhole: (whole: boolean) => void;
  /** What can still be done about a defect, below what was done; nothing when absent. */
  readonly onward?: ((defect: Defect) => ReactNode) | undefined;
}

/** Every defect with its position, its meaning for the clip and what was done; exact figures on request. */
export function DefectTable({ defects, whole, onWhole, onward }: DefectTableProps) {
  if (defects.length === 0) return <p>{texts.none}</p>;
  const folded = foldedOf(defects);
  return (
    <>
      <TableScroll tabIndex={0} aria-label={texts.title}>
        <Table>
          <thead>
            <tr>
              <th scope="col">{texts.kind}</th>
              <th scope="col">{texts.where}</th>
              <th scope="col">{texts.meaning}</th>
              <th scope="col" className={EXPERT}>
                {texts.exact}
              </th>
              <th scope="col">{texts.outcome}</th>
            </tr>
          </thead>
          <tbody>
            {defects.map((defect) => (
              <DefectRow
                key={defect.id}
                defect={defect}
                isFolded={!whole && folded.has(defect.id)}
                onward={onward?.(defect)}
              />
            ))}
          </tbody>
        </Table>
      </TableScroll>
      {folded.size > 0 && (
        <More>
          <Button size="s" look="secondary" aria-expanded={whole} onClick={() => onWhole(!whole)}>
            {whole ? texts.fewer : texts.all(defects.length)}
          </Button>
        </More>
      )}
    </>
  );
}

interface DefectRowProps {
  readonly defect: Defect;
  readonly isFolded: boolean;
  readonly onward: ReactNode;
}

function DefectRow({ defect, isFolded, onward }: DefectRowProps) {
  const { kind, measure, outcome, action, firstFrame, lastFrame } = defect;
  const { plain, expert } = explanationParts(defect.explanation);
  return (
    <tr id={defect.id} tabIndex={-1} data-folded={isFolded ? '' : undefined}>
      <th scope="row">
        {videoTexts.defects[kind]}
        <Small className={EXPERT}>{texts.detector(defect.detector)}</Small>
      </th>
      <td className="number" data-name={texts.where}>
        {formatTimecode(defect.startMs)}
        <Small>{texts.until(formatTimecode(defect.endMs))}</Small>
        {firstFrame !== null && lastFrame !== null && (
          <Small className={EXPERT}>{texts.frames(firstFrame, lastFrame)}</Small>
        )}
      </td>
      <td className="words" data-name={texts.meaning}>
        {meaningOf(defect)}
      </td>
      <td className={`words ${EXPERT}`} data-name={texts.exact}>
        {measure.name}
        <Figures>
          {exactFigures(defect).map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </Figures>
      </td>
      <td className="words" data-name={texts.outcome}>
        <Badge tone={OUTCOME_TONES[outcomeOf(outcome, action)]}>{outcomeWord(outcome, action)}</Badge>
        <Small>{plain}</Small>
        {expert !== '' && <Small className={EXPERT}>{expert}</Small>}
        {onward}
      </td>
    </tr>
  );
}

/** Before, after, limit and confidence of a defect, each with its name. */
function exactFigures({ measure, outcome, confidence }: Defect): [name: string, value: string][] {
  const { before, after, threshold, unit } = measure;
  const gone = outcome === 'repaired' && after === null;
  return [
    [texts.before, formatFigure(before, unit)],
    [texts.after, gone ? texts.gone : formatFigure(after, unit)],
    ...(threshold === null ? [] : [[texts.limit, formatFigure(threshold, unit)] satisfies [string, string]]),
    [texts.confidence, `${Math.round(confidence * 100)} %`],
  ];
}
