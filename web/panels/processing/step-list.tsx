import styled from 'styled-components';
import type { StatusDto } from '#common/api/videos.ts';
import type { StepRecord } from '#common/report.ts';
import { PROCESSING_STEPS, type StepState } from '#common/video.ts';
import { Icon, type IconName } from '../../components/icons.tsx';
import { formatMark } from '../../components/time-text.ts';
import { landingTexts } from '../../texts/landing.ts';
import { colour, figures, screen, space, text } from '../../theme.ts';

const { processing: texts } = landingTexts;

const List = styled.ol`
  display: grid;
`;
const Item = styled.li<{ $state: StepState }>`
  display: grid;
  grid-template-columns: 24px 1fr auto;
  align-items: center;
  gap: ${space(1.5)};
  /* On a phone the state of a step decides whether its name takes two lines. */
  min-height: 48px;
  ${screen.tablet} {
    min-height: 40px;
  }
  line-height: 24px;
  color: ${({ $state }) =>
    $state === 'running' ? colour.ink : $state === 'failed' ? colour.defect : colour.inkSoft};
  font-weight: ${({ $state }) => ($state === 'running' ? 650 : 400)};
`;
const Sign = styled.span<{ $colour: string }>`
  color: ${({ $colour }) => $colour};
`;
const State = styled.span`
  ${figures}
  font-size: ${text.s};
  color: ${colour.inkFaint};
  text-align: right;
`;

const SIGNS: Record<StepState, { icon: IconName; colour: string }> = {
  waiting: { icon: 'dot', colour: colour.inkFaint },
  running: { icon: 'spark', colour: colour.live },
  done: { icon: 'check', colour: colour.ok },
  not_needed: { icon: 'collapse', colour: colour.inkFaint },
  failed: { icon: 'alert', colour: colour.defect },
};

function stateText(record: StepRecord | undefined, { status, progress }: StatusDto): string {
  // After a failed step, no later step is waiting.
  const idle = status === 'failed' ? texts.notReached : texts.waiting;
  if (!record) return idle;
  if (record.state === 'done')
    return record.tookMs === null ? texts.doneIn('0:00') : texts.doneIn(formatMark(record.tookMs + 500));
  if (record.state === 'running') return `${Math.round(progress)} %`;
  return { waiting: idle, not_needed: texts.notNeeded, failed: texts.stepFailed }[record.state];
}

/** The six steps in order with their states. */
export function StepList({ status }: { readonly status: StatusDto }) {
  return (
    <List aria-label={texts.steps}>
      {PROCESSING_STEPS.map(({ id, label }) => {
        const record =
          status.steps.find(({ step }) => step === id) ??
          (status.currentStep === id && status.status === 'processing'
            ? { step: id, state: 'running' as const, tookMs: null, note: '' }
            : undefined);
        const state = record?.state ?? 'waiting';
        return (
          <Item key={id} $state={state} title={record?.note || undefined} data-state={state}>
            <Sign $colour={SIGNS[state].colour}>
              <Icon name={SIGNS[state].icon} />
            </Sign>
            {label}
            <State>{stateText(record, status)}</State>
          </Item>
        );
      })}
    </List>
  );
}
