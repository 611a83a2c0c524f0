import { type FormEvent, useEffect, useState } from 'react';
import styled from 'styled-components';
import type { ClipVersionDto, FixOutcome, FixRunDto } from '#common/api/quick-fixes.ts';
import type { VideoDto } from '#common/api/videos.ts';
import { isAtWork } from '#common/is-at-work.ts';
import { changesOf } from '#common/noticed.ts';
import type { RepairReport } from '#common/report.ts';
import { Button } from '../../components/button.tsx';
import { Icon } from '../../components/icons.tsx';
import { isBlank, type NoticedDraft, useMendNoticed, useNoticedDraft } from '../../data/videos/noticed.ts';
import {
  isHandRun,
  useCancelFixes,
  useQuickFixes,
  useRestoreVersion,
} from '../../data/videos/quick-fixes.ts';
import { resultMark } from '../../data/videos/videos.ts';
import { noticedTexts as texts } from '../../texts/noticed.ts';
import { screen, space, text } from '../../theme.ts';
import { Note, Panel } from '../panel-parts.tsx';
import { useFollowed } from '../quick-fixes/awaited-lines.ts';
import { useAnnouncedEnd } from '../quick-fixes/run-end.ts';
import { useWayBack } from '../use-way-back.ts';
import { type NoticedPlayer, NoticedPlaces } from './noticed-places.tsx';
import { NoticedRun, madeVersion } from './noticed-run.tsx';
import { NoticedSound, parseShift } from './noticed-sound.tsx';

const Form = styled.form`
  display: grid;
  gap: ${space(2)};
  min-width: 0;
`;
const Parts = styled.div`
  display: grid;
  grid-template-columns: minmax(0, 1fr);
  gap: ${space(2, 4)};
  align-items: start;
  ${screen.tablet} {
    grid-template-columns: repeat(2, minmax(0, 1fr));
  }
`;
/* With room for two lines beside or below the button, so that nothing below moves when they come and go. */
const Ask = styled.div`
  display: grid;
  grid-template-columns: minmax(0, 1fr);
  grid-template-rows: auto minmax(calc(3 * ${text.s}), auto);
  align-items: center;
  justify-items: start;
  gap: ${space(1, 1.5)};
  ${screen.tablet} {
    grid-template-columns: auto minmax(0, 1fr);
    grid-template-rows: minmax(44px, auto);
  }
`;

/** What a request for this would be about, before the server has told of it. */
const awaited = (draft: NoticedDraft): FixOutcome[] =>
  changesOf(draft).map((id) => ({ id, state: 'waiting', detail: '', figures: [] }));

/** Whether the current version is known to have no sound: by what was kept of it, or by the report of the repair. */
function isSilent(versions: readonly ClipVersionDto[], report: RepairReport | undefined): boolean {
  const media = versions.find(({ current }) => current)?.media ?? report?.result.media;
  return media?.audioCodec === null;
}

interface NoticedPanelProps {
  readonly video: VideoDto;
  readonly player: NoticedPlayer;
  /** Whether the player shows before and after instead of the clip, whose times are others. */
  readonly isCompared: boolean;
  readonly report: RepairReport | undefined;
}

/**
 * What somebody still sees or hears in a finished clip: they mark it, it is judged again there and mended, and a new
 * version results that one press takes back. On every plan.
 */
export function NoticedPanel({ video, player, isCompared, report }: NoticedPanelProps) {
  const { data } = useQuickFixes(video.id);
  const newest = data?.run ?? null;
  const isOurs = isHandRun(newest);
  return (
    <Panel aria-label={texts.title} as="section">
      <h3>
        <Icon name="eye" />
        {texts.title}
      </h3>
      <Note>{texts.lead}</Note>
      <NoticedForm
        video={video}
        player={player}
        isCompared={isCompared}
        isSilent={isSilent(data?.versions ?? [], report)}
        // Quick fixes are followed where they were chosen.
        run={isOurs ? newest : null}
        isBusyElsewhere={!isOurs && isAtWork(newest)}
        versions={data?.versions ?? []}
      />
    </Panel>
  );
}

interface NoticedFormProps extends Omit<NoticedPanelProps, 'report'> {
  readonly isSilent: boolean;
  /** The newest request for what was noticed. */
  readonly run: FixRunDto | null;
  /** Whether another request for this clip is at work, of which there is one at a time. */
  readonly isBusyElsewhere: boolean;
  readonly versions: readonly ClipVersionDto[];
}

function NoticedForm(props: NoticedFormProps) {
  const { video, player, isCompared, isSilent: noSound, run, isBusyElsewhere, versions } = props;
  const { draft: kept, isOutdated, change, drop } = useNoticedDraft(video.id, resultMark(video));
  const draft = noSound ? { ...kept, soundShiftMs: 0 } : kept;
  const [typed, setTyped] = useState<string | null>(null);
  const mend = useMendNoticed(video.id);
  const cancel = useCancelFixes(video.id);
  const restore = useRestoreVersion(video.id);
  const isFollowed = useFollowed(run);
  const result = madeVersion(run, versions);
  const isTakenBack = result !== null && !result.made.current;
  const mendButton = useWayBack(run?.state === 'cancelled');
  const firstButton = useWayBack(isTakenBack);
  useAnnouncedEnd(run, texts.end);

  const isMended = isFollowed && run?.state === 'done';
  useEffect(() => {
    if (isMended) drop();
  }, [isMended, drop]);

  const isMending = mend.isPending || isAtWork(run);
  const isBad = !noSound && typed !== null && parseShift(typed) === null;
  const canAsk = !isBlank(draft) && !isBad && !isMending && !isBusyElsewhere;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (canAsk) mend.mutate({ places: [...draft.places], soundShiftMs: draft.soundShiftMs });
  };
  // A request that ended before the page was opened is told as long as its version is the current one.
  const isTold = run !== null && (isFollowed || run.state === 'failed' || result?.made.current === true);
  return (
    <Form noValidate onSubmit={submit}>
      <Parts>
        <NoticedPlaces
          places={draft.places}
          durationMs={video.durationMs}
          player={player}
          notNow={isMending ? texts.places.mending : isCompared ? texts.places.comparing : null}
          isFixed={isMending}
          notice={isOutdated && !isTold ? texts.places.said.outdated : null}
          onPlaces={(places) => change({ places })}
          firstButton={firstButton}
        />
        {noSound ? (
          <Note>{texts.sound.none}</Note>
        ) : (
          <NoticedSound
            shiftMs={draft.soundShiftMs}
            typed={typed}
            isFixed={isMending}
            onShift={(soundShiftMs) => change({ soundShiftMs })}
            onTyped={setTyped}
          />
        )}
      </Parts>
      <Ask>
        <Button type="submit" icon="retry" ref={mendButton} disabled={!canAsk}>
          {mend.isPending ? texts.asking : texts.mend}
        </Button>
        {isBusyElsewhere && <Note>{texts.busyElsewhere}</Note>}
        {!isBusyElsewhere && !isMending && isBlank(draft) && <Note>{texts.nothing}</Note>}
      </Ask>
      {(mend.isPending || isTold) && (
        <NoticedRun
          videoId={video.id}
          run={mend.isPending && !isAtWork(run) ? null : run}
          outcomes={mend.isPending && !isAtWork(run) ? awaited(draft) : (run?.fixes ?? [])}
          result={result}
          cancelling={cancel.isPending}
          restoring={restore.isPending}
          onCancel={() => cancel.mutate()}
          onTakeBack={(versionId) => restore.mutate(versionId)}
        />
      )}
    </Form>
  );
}
