import { useId } from 'react';
import styled from 'styled-components';
import type { AnalyticsBody, AnalyticsMonth, DefectCounts } from '#common/api/analytics.ts';
import { formatBytes } from '#common/format.ts';
import { DEFECT_KINDS } from '#common/report.ts';
import { DataTable, TableScroll } from '../../components/data-table.tsx';
import { analyticsTexts } from '../../texts/analytics.ts';
import { colour, text } from '../../theme.ts';
import { formatMinutes, formatMonth } from './figures.ts';

const { table: texts } = analyticsTexts;

const Title = styled.h2`
  font-size: ${text.xl};
`;
const Table = styled(DataTable)`
  tbody th {
    font-weight: 500;
  }
  tfoot > tr > * {
    border-top: 2px dashed ${colour.chalk};
    border-bottom: 0;
    font-weight: 650;
  }
`;

type Line = Omit<AnalyticsMonth, 'month' | 'addedBytes'>;

/** Total number of defects of all kinds. */
function countDefects(counts: DefectCounts): number {
  return DEFECT_KINDS.reduce((sum, kind) => sum + counts[kind], 0);
}

function Cells({ line }: { readonly line: Line }) {
  return (
    <>
      <td>{line.videos}</td>
      <td>{line.completed}</td>
      <td>{line.failed}</td>
      <td>{countDefects(line.defects)}</td>
      <td>{line.issuesFixed}</td>
      <td>{formatMinutes(line.minutesMended)}</td>
      <td>{formatMinutes(line.minutesSaved)}</td>
      <td>{formatBytes(line.storedBytes)}</td>
    </>
  );
}

const HEADS = [
  texts.month,
  texts.videos,
  texts.completed,
  texts.failed,
  texts.defects,
  texts.fixed,
  texts.minutes,
  texts.saved,
  texts.stored,
] as const;

/** The figures as text, newest month first; on narrow screens the table scrolls in its own frame. */
export function MonthTable({ months, totals }: AnalyticsBody) {
  const id = useId();
  return (
    <>
      <Title id={id}>{texts.title}</Title>
      <TableScroll tabIndex={0} aria-labelledby={id}>
        <Table $kind="numbers" $minWidth={760} aria-labelledby={id}>
          <thead>
            <tr>
              {HEADS.map((head) => (
                <th key={head} scope="col">
                  {head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {months.toReversed().map((line) => (
              <tr key={line.month}>
                <th scope="row">{formatMonth(line.month, 'long')}</th>
                <Cells line={line} />
              </tr>
            ))}
          </tbody>
          <tfoot>
            <tr>
              <th scope="row">{texts.total}</th>
              <Cells line={totals} />
            </tr>
          </tfoot>
        </Table>
      </TableScroll>
    </>
  );
}
