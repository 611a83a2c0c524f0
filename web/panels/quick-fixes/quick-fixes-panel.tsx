import { type FormEvent, useCallback, useRef, useState } from 'react';
import styled from 'styled-components';
import type { FixOutcome, FixRunDto } from '#common/api/quick-fixes.ts';
import type { VideoDto } from '#common/api/videos.ts';
import { FIXES, type FixId, isQuickFix } from '#common/fixes.ts';
import { isAtWork } from '#common/is-at-work.ts';
import { Button } from '../../components/button.tsx';
import { Icon } from '../../components/icons.tsx';
import { useSpecifiedPace } from '../../data/videos/fix-progress.ts';
import { isHandRun, useApplyFixes, useCancelFixes, useQuickFixes } from '../../data/videos/quick-fixes.ts';
import { useShowToast } from '../../data/toasts.ts';
import { quickFixTexts as texts } from '../../texts/quick-fixes.ts';
import { eyebrow, space } from '../../theme.ts';
import { Failure, Note, Panel, Reading, Unread } from '../panel-parts.tsx';
import { useWayBack } from '../use-way-back.ts';
import { WORK_HEIGHT, WorkProgress } from '../work-progress.tsx';
import { useFollowed } from './awaited-lines.ts';
import { FixFiles } from './fix-files.tsx';
import { FixItem, type FixItemState } from './fix-item.tsx';
import { endOf, useAnnouncedEnd } from './run-end.ts';
import { RunProgress } from './run-progress.tsx';

const Form = styled.form`
  display: grid;
  gap: ${space(1.5)};
  min-width: 0;
`;
const Category = styled.fieldset`
  display: grid;
  gap: ${space(0.75)};
  min-width: 0;
  margin: 0;
  padding: 0;
  border: 0;
  legend {
    ${eyebrow}
    margin-bottom: ${space(0.5)};
    padding: 0;
  }
`;

/** Keeps the room of the progress when that has ended, so that nothing below it moves. */
const Course = styled.div`
  min-height: ${WORK_HEIGHT};
`;
/* With room for a sentence beside the button, so that nothing below moves when it comes and goes. */
const Apply = styled.div`
  display: flex;
  align-items: center;
  gap: ${space(1)};
  min-height: 44px;
  button {
    flex: none;
  }
`;
const Failed = styled.div`
  display: grid;
  justify-items: start;
  gap: ${space(1)};
`;

const CATEGORIES = ['audio', 'visual', 'platform'] as const;

/** Fixes that flags of the analysis suggest. */
function recommendedFixes({ issues }: VideoDto): ReadonlySet<FixId> {
  const marks: readonly (FixId | false)[] = [
    issues?.shakyFootage === true && 'stabilize',
    issues?.poorLighting === true && 'color-correct',
    issues?.blurrySection === true && 'sharpen',
  ];
  return new Set(marks.filter((mark) => mark !== false));
}

interface QuickFixesPanelProps {
  readonly video: VideoDto;
}

/**
 * AI Quick Fixes of a finished video: choose, apply, follow the progress, read the outcome; versions and files below.
 */
export function QuickFixesPanel({ video }: QuickFixesPanelProps) {
  const { data, errorUpdateCount, refetch } = useQuickFixes(video.id);
  // Stays while it is tried again: what is chosen below must not go away meanwhile.
  const isUnread = !data && errorUpdateCount > 0;
  return (
    <Panel aria-label={texts.title} as="section">
      <h3>
        <Icon name="spark" />
        {texts.title}
      </h3>
      <Note>{texts.note}</Note>
      {isUnread && (
        <Unread retry={texts.retry} onRetry={() => void refetch()}>
          {texts.fetchFailed}
        </Unread>
      )}
      {!data && !isUnread && <Reading height="96px">{texts.loading}</Reading>}
      {(data || isUnread) && (
        <FixForm
          video={video}
          // What somebody pointed at is followed where they pointed at it.
          run={data && !isHandRun(data.run) ? data.run : null}
          isBusyElsewhere={isHandRun(data?.run) && isAtWork(data?.run)}
          done={data?.done ?? []}
        />
      )}
      {data && <FixFiles videoId={video.id} fixes={data} />}
    </Panel>
  );
}

interface FixFormProps {
  readonly video: VideoDto;
  /** The newest request for quick fixes. */
  readonly run: FixRunDto | null;
  /** Whether another request for this clip is at work, of which there is one at a time. */
  readonly isBusyElsewhere: boolean;
  readonly done: readonly FixOutcome[];
}

function FixForm({ video, run, isBusyElsewhere, done }: FixFormProps) {
  const [selected, setSelected] = useState<ReadonlySet<FixId>>(new Set());
  const apply = useApplyFixes(video.id);
  const cancel = useCancelFixes(video.id);
  const applyButton = useWayBack(run?.state === 'cancelled');
  const showToast = useShowToast();
  const atWork = isAtWork(run);
  const isFollowed = useFollowed(run);
  useAnnouncedEnd(run, texts);
  const blind = useBlindRun();
  // The work may be pushed, and cancelled, before its request is answered.
  const cancelled = useRef(false);
  const recommended = recommendedFixes(video);
  const busy = atWork || isBusyElsewhere || apply.isPending || blind.working.size > 0;
  const asked = run?.fixes.map(({ id }) => id).filter(isQuickFix) ?? [];

  const stateOf = (id: FixId): FixItemState => {
    const running = run?.fixes.find((fix) => fix.id === id);
    if (atWork && running) return { kind: 'processing', outcome: running };
    if ((apply.isPending && selected.has(id)) || blind.working.has(id))
      return { kind: 'processing', outcome: null };
    if (blind.done.has(id))
      return { kind: 'completed', outcome: { id, state: 'applied', detail: '', figures: [] } };
    const outcome = done.find((fix) => fix.id === id);
    if (outcome) return { kind: 'completed', outcome };
    const failed = running?.state === 'failed' ? running : null;
    return { kind: selected.has(id) ? 'selected' : 'unselected', outcome: failed };
  };
  const wanted = FIXES.map(({ id }) => id).filter((id) => stateOf(id).kind === 'selected');

  const toggle = (id: FixId): void => {
    const { kind } = stateOf(id);
    if (kind !== 'selected' && kind !== 'unselected') return;
    setSelected((before) => {
      const next = new Set(before);
      if (!next.delete(id)) next.add(id);
      return next;
    });
  };
  const ask = (fixes: FixId[]): void => {
    cancelled.current = false;
    apply.mutate(fixes, {
      onSuccess: ({ jobId }) => {
        if (!cancelled.current) setSelected(new Set());
        if (jobId === '') blind.start(fixes);
      },
    });
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (busy) return;
    if (wanted.length === 0) {
      showToast({ title: texts.none, description: texts.noneDetail, tone: 'notice' });
      return;
    }
    ask(wanted);
  };
  // The choice is kept, so that it can be corrected instead of made again.
  const stop = (): void => {
    cancelled.current = true;
    setSelected((before) => new Set([...before, ...asked]));
    cancel.mutate();
  };
  return (
    <Form onSubmit={submit}>
      {CATEGORIES.map((category) => (
        <Category key={category}>
          <legend>{texts.categories[category]}</legend>
          {FIXES.filter((fix) => fix.category === category).map(({ id, label }) => (
            <FixItem
              key={id}
              id={id}
              label={label}
              state={stateOf(id)}
              recommended={recommended.has(id)}
              onToggle={() => toggle(id)}
            />
          ))}
        </Category>
      ))}
      {run && isFollowed && run.state !== 'failed' && (
        <Course>
          {atWork ? (
            <RunProgress
              key={run.jobId}
              run={run}
              texts={texts}
              cancelling={cancel.isPending}
              onCancel={stop}
            />
          ) : (
            <Note>{endOf(run, texts)}</Note>
          )}
        </Course>
      )}
      {blind.working.size > 0 && <BlindProgress onEnd={blind.end} />}
      {run?.state === 'failed' && run.message !== null && (
        <Failed>
          <Failure>{run.message}</Failure>
          <Button
            look="secondary"
            size="s"
            icon="retry"
            aria-label={texts.againLabel}
            disabled={busy}
            onClick={() => ask(asked)}
          >
            {texts.again}
          </Button>
        </Failed>
      )}
      <Apply>
        <Button type="submit" size="s" icon="spark" ref={applyButton} disabled={wanted.length === 0 || busy}>
          {apply.isPending ? texts.asking : texts.apply(wanted.length)}
        </Button>
        {isBusyElsewhere && <Note>{texts.busyElsewhere}</Note>}
      </Apply>
    </Form>
  );
}

const NONE: ReadonlySet<FixId> = new Set();

/** Runs fixes on a server with only the specified answer, which names no job, so no progress can be read. */
function useBlindRun() {
  const [working, setWorking] = useState(NONE);
  const [done, setDone] = useState(NONE);
  const end = useCallback(() => {
    setDone((before) => new Set([...before, ...working]));
    setWorking(NONE);
  }, [working]);
  return { working, done, end, start: (fixes: readonly FixId[]) => setWorking(new Set(fixes)) };
}

function BlindProgress({ onEnd }: { readonly onEnd: () => void }) {
  const percent = useSpecifiedPace(onEnd);
  const shown = Math.round(percent);
  return (
    <WorkProgress
      note={texts.estimated(shown)}
      label={texts.progress}
      percent={percent}
      valueText={texts.working(shown)}
    />
  );
}
