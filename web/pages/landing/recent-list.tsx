import type { ReactNode } from 'react';
import { Link } from 'react-router-dom';
import styled from 'styled-components';
import { DASHBOARD_LIST_LENGTH } from '#common/limits.ts';
import { Card } from '../../components/card.tsx';
import { NoteLine } from '../../components/note-line.tsx';
import { StaleNote } from '../../components/stale-note.tsx';
import { Skeleton } from '../../components/skeleton.tsx';
import { landingTexts } from '../../texts/landing.ts';
import { colour, figures, ofAnyScript, space, text } from '../../theme.ts';

const { dashboard: texts } = landingTexts;
const ROW_HEIGHT = 60;

const Box = styled(Card)`
  display: grid;
  grid-template-columns: minmax(0, 1fr);
  min-width: 0;
  align-content: start;
  gap: ${space(1.5)};
  padding: ${space(2.5)};
  h3 {
    font-size: ${text.l};
  }
`;
const Rows = styled.ul<{ $held: boolean }>`
  /* Reserves room for the full list, so that nothing below moves when it fills. */
  min-height: ${({ $held }) => ($held ? ROW_HEIGHT * DASHBOARD_LIST_LENGTH : ROW_HEIGHT)}px;
`;
export const Row = styled.li`
  display: flex;
  align-items: center;
  gap: ${space(1)};
  height: ${ROW_HEIGHT}px;
  border-top: 1px solid ${colour.line};
  & > div {
    flex: 1;
    min-width: 0;
  }
`;
export const RowName = styled.p`
  ${ofAnyScript}
  overflow: hidden;
  white-space: nowrap;
  text-overflow: ellipsis;
  font-weight: 600;
`;
export const RowFacts = styled.p`
  ${figures}
  font-size: ${text.xs};
  color: ${colour.inkFaint};
`;
const Empty = styled.li`
  padding-top: ${space(2)};
  border-top: 1px solid ${colour.line};
  color: ${colour.inkFaint};
`;
interface RecentListProps {
  readonly title: string;
  readonly empty: string;
  readonly signedIn: boolean;
  readonly query?: {
    readonly isPending: boolean;
    readonly isError: boolean;
    readonly refetch: () => unknown;
  };
  readonly rows?: readonly ReactNode[];
}

/** A short dashboard list in all its states: visitor, loading, empty, stale, filled. */
export function RecentList({ title, empty, signedIn, query, rows = [] }: RecentListProps) {
  return (
    <Box>
      <NoteLine $minHeight="36px">
        <h3>{title}</h3>
        {signedIn && query?.isError && (
          <StaleNote onRetry={() => void query.refetch()}>{texts.loadFailed}</StaleNote>
        )}
      </NoteLine>
      <Rows $held={signedIn}>
        {!signedIn && (
          <Empty>
            <Link to="/auth">{texts.signedOut}</Link>
          </Empty>
        )}
        {signedIn && (!query || query.isPending) && (
          <Row aria-busy="true">
            <Skeleton $height="32px" />
          </Row>
        )}
        {signedIn && query && !query.isPending && rows.length === 0 && !query.isError && (
          <Empty>{empty}</Empty>
        )}
        {signedIn && rows}
      </Rows>
    </Box>
  );
}
