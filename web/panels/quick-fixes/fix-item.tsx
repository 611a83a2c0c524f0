import { useId, useState } from 'react';
import styled, { css } from 'styled-components';
import type { FixOutcome } from '#common/api/quick-fixes.ts';
import type { FixId } from '#common/fixes.ts';
import { Badge } from '../../components/badge.tsx';
import { Icon } from '../../components/icons.tsx';
import { quickFixTexts as texts } from '../../texts/quick-fixes.ts';
import { colour, radius, space, text } from '../../theme.ts';
import { FixFigures, MEASURED_HEIGHT } from './fix-figures.tsx';
import { badgeOfOutcome, type OutcomeBadge, WAITING } from './outcome-badge.ts';

/** State of a fix; `outcome` is its last result, also for a failed fix, which can be chosen again. */
export type FixItemState =
  | { readonly kind: 'unselected' | 'selected'; readonly outcome: FixOutcome | null }
  | { readonly kind: 'processing'; readonly outcome: FixOutcome | null }
  | { readonly kind: 'completed'; readonly outcome: FixOutcome };

const Row = styled.button<{ $selected: boolean; $fixed: boolean }>`
  display: grid;
  grid-template-columns: auto minmax(0, 1fr);
  align-items: center;
  gap: ${space(0.25, 1.25)};
  width: 100%;
  min-height: 44px;
  padding: ${space(0.75, 1.25)};
  border: 1px solid ${({ $selected }) => ($selected ? colour.liveThread : colour.line)};
  border-radius: ${radius.s};
  background: ${({ $selected, $fixed }) => ($selected ? colour.liveSoft : $fixed ? colour.sunken : colour.raised)};
  color: ${colour.ink};
  font: inherit;
  text-align: start;
  cursor: ${({ $fixed }) => ($fixed ? 'default' : 'pointer')};
  ${({ $fixed }) =>
    !$fixed &&
    css`
      &:hover {
        border-color: ${colour.lineStrong};
      }
    `}
`;
const Box = styled.span<{ $on: boolean }>`
  display: inline-grid;
  place-items: center;
  width: 20px;
  height: 20px;
  border: 1.5px solid ${({ $on }) => ($on ? colour.thread : colour.lineStrong)};
  border-radius: 4px;
  background: ${({ $on }) => ($on ? colour.thread : 'transparent')};
  color: ${colour.onThread};
`;
const Words = styled.span`
  display: grid;
  min-width: 0;
  & > small {
    font-size: ${text.s};
    color: ${colour.inkSoft};
  }
`;
/* Beside the name where there is room, below it in a narrow panel. */
const Head = styled.span`
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  justify-content: space-between;
  gap: ${space(0.25, 1)};
  strong {
    font-size: ${text.m};
    font-weight: 600;
  }
`;
/* As high while a fix is applied as with most results, so that a result moves nothing: three lines, and the figures. */
const Result = styled.div`
  display: grid;
  grid-template-rows: minmax(4.5em, auto) minmax(${MEASURED_HEIGHT}, auto);
  padding: ${space(0.5, 1.25)};
  font-size: ${text.s};
  color: ${colour.inkSoft};
  overflow-wrap: anywhere;
`;

const PAST = { tone: 'neutral', icon: 'clock', word: texts.older } as const;

function badgeOf({ kind, outcome }: FixItemState): OutcomeBadge | null {
  const atWork = kind === 'processing';
  if (!outcome) return atWork ? WAITING : null;
  return badgeOfOutcome(outcome, atWork);
}

interface FixItemProps {
  readonly id: FixId;
  readonly label: string;
  readonly state: FixItemState;
  readonly recommended: boolean;
  readonly onToggle: () => void;
}

/** One fix as a switch, with its outcome in words below, and figures by one press. */
export function FixItem({ id, label, state, recommended, onToggle }: FixItemProps) {
  const resultId = useId();
  const { kind } = state;
  // A result that another version takes away stays readable, and in its place, until the page is opened again.
  const [known, setKnown] = useState<FixOutcome | null>(null);
  if (state.outcome !== null && state.outcome !== known) setKnown(state.outcome);
  const isPast = state.outcome === null && kind !== 'processing' && known?.state === 'applied';
  const outcome = isPast ? known : state.outcome;
  const isFixed = kind === 'processing' || kind === 'completed';
  const isOn = kind !== 'unselected';
  const badge = isPast ? PAST : badgeOf(state);
  const told = outcome !== null && outcome.detail !== '' && kind !== 'processing';
  const hint = texts.hints[id];
  return (
    <div>
      <Row
        type="button"
        $selected={kind === 'selected'}
        $fixed={isFixed}
        aria-pressed={isOn}
        aria-disabled={isFixed}
        data-state={kind}
        {...(told ? { 'aria-describedby': resultId } : {})}
        onClick={isFixed ? undefined : onToggle}
      >
        <Box $on={isOn} aria-hidden="true">
          {isOn && <Icon name="check" size={15} />}
        </Box>
        <Words>
          <Head>
            <strong>{label}</strong>
            {recommended && !isFixed && (
              <Badge tone="info" icon="spark">
                {texts.recommended}
              </Badge>
            )}
          </Head>
          {badge ? (
            <span>
              <Badge tone={badge.tone} icon={badge.icon}>
                {badge.word}
              </Badge>
            </span>
          ) : (
            <small>{hint}</small>
          )}
        </Words>
      </Row>
      {(told || isFixed) && (
        <Result>
          <p id={resultId}>{told ? outcome.detail : hint}</p>
          {told && <FixFigures label={label} outcome={outcome} />}
        </Result>
      )}
    </div>
  );
}
