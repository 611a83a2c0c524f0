import styled, { css } from 'styled-components';
import type { LiveState } from '#common/live-findings.ts';
import type { Defect, RepairAction } from '#common/report.ts';
import { explanationParts } from '../../components/explanation-parts.ts';
import { Badge } from '../../components/badge.tsx';
import { formatMark } from '../../components/time-text.ts';
import { outcomeOf, outcomeWord } from '../../texts/outcomes.ts';
import { videoTexts } from '../../texts/videos.ts';
import { colour, figures, radius, screen, space, text } from '../../theme.ts';
import { OUTCOME_TONES } from '../outcome-tones.ts';

const List = styled.ol`
  display: grid;
  max-height: 420px;
  overflow: auto;
`;
/** Beside the name where there is room; a phone shows it on a separate line instead of cutting it. */
const compactRow = css`
  grid-template-columns: 4.5ch 1fr auto;
  padding: ${space(0.75, 0)};
  ${screen.tablet} {
    grid-template-columns: 4.5ch auto 1fr auto;
    p {
      grid-area: 1 / 3;
      overflow: hidden;
      text-overflow: ellipsis;
      white-space: nowrap;
    }
  }
`;
const Row = styled.button<{ $compact: boolean }>`
  display: grid;
  grid-template-columns: 6ch 1fr auto;
  gap: ${space(0.25, 1)};
  align-items: baseline;
  width: 100%;
  padding: ${space(1)};
  border: 0;
  border-top: 1px solid ${colour.line};
  background: none;
  text-align: left;
  &:is(button):hover {
    background: ${colour.hover};
    border-radius: ${radius.s};
  }
  p {
    grid-column: 2 / -1;
    font-size: ${text.s};
    color: ${colour.inkSoft};
  }
  ${({ $compact }) => $compact && compactRow}
`;
const Time = styled.span`
  ${figures}
  font-size: ${text.s};
  color: ${colour.inkFaint};
`;
const Title = styled.h3`
  margin-bottom: ${space(1)};
  font-size: ${text.l};
`;
/** The content of a row: a defect of the report, or of a repair that is still running. */
export interface DefectEntry extends Pick<Defect, 'id' | 'kind' | 'startMs' | 'explanation'> {
  readonly outcome: LiveState;
  readonly action?: RepairAction;
}

interface DefectListProps {
  readonly defects: readonly DefectEntry[];
  readonly unchanged: boolean;
  /** One line per defect, where the list must not grow. */
  readonly compact?: boolean;
  /** Omitted if there is no player to jump in. */
  readonly onJump?: (ms: number) => void;
}

/** Every defect of the report with its position, what was done, and a jump to it. */
export function DefectList({ defects, unchanged, compact = false, onJump }: DefectListProps) {
  if (defects.length === 0) return <p>{unchanged ? videoTexts.unchanged : videoTexts.none}</p>;
  return (
    <section aria-label={videoTexts.found}>
      <Title>{videoTexts.found}</Title>
      <List>
        {defects.map((defect) => (
          <li key={defect.id}>
            <Row
              $compact={compact}
              as={onJump ? 'button' : 'div'}
              type={onJump ? 'button' : undefined}
              onClick={onJump && (() => onJump(defect.startMs))}
            >
              <Time>{formatMark(defect.startMs)}</Time>
              <strong>{videoTexts.defects[defect.kind]}</strong>
              <Badge tone={OUTCOME_TONES[outcomeOf(defect.outcome, defect.action)]}>
                {outcomeWord(defect.outcome, defect.action)}
              </Badge>
              <p>{explanationParts(defect.explanation).plain}</p>
            </Row>
          </li>
        ))}
      </List>
    </section>
  );
}
