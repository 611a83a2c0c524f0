import styled, { css } from 'styled-components';
import { colour, figures, radius, space, text } from '../theme.ts';

/** Keeps a wide table within its page: it scrolls by itself, also by keyboard (give it `tabIndex={0}` and a name). */
export const TableScroll = styled.section`
  /* Contains visually hidden captions, which would otherwise widen the page. */
  position: relative;
  min-width: 0;
  max-width: 100%;
  overflow-x: auto;
  border: 1px solid ${colour.line};
  border-radius: ${radius.m};
  background: ${colour.raised};
`;

const numbers = css`
  th,
  td {
    text-align: right;
    white-space: nowrap;
  }
  th:first-child {
    text-align: left;
  }
  td {
    ${figures}
  }
`;

/**
 * The common style of tables: `text` mixes words and figures, `numbers` has a column of names with figures beside it.
 */
export const DataTable = styled.table<{ $minWidth?: number; $kind?: 'text' | 'numbers' }>`
  width: 100%;
  min-width: ${({ $minWidth = 0 }) => $minWidth}px;
  border-collapse: collapse;
  font-size: ${text.s};
  th,
  td {
    padding: ${space(1.25, 1.5)};
    border-bottom: 1px solid ${colour.line};
    text-align: left;
    vertical-align: top;
  }
  thead th {
    color: ${colour.inkFaint};
    font-weight: 600;
  }
  tbody tr:last-child > * {
    border-bottom: 0;
  }
  .number {
    ${figures}
    white-space: nowrap;
  }
  ${({ $kind }) => ($kind === 'numbers' ? numbers : '')}
`;
