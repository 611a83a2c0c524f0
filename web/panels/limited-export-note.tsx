import { useState } from 'react';
import { Link } from 'react-router-dom';
import styled from 'styled-components';
import type { LimitedExport, VideoDto } from '#common/api/videos.ts';
import { formatBytes } from '#common/format.ts';
import { isAtWork } from '#common/is-at-work.ts';
import { Button } from '../components/button.tsx';
import { useCancelExport, useMakeExport } from '../data/videos/download.ts';
import { videoTexts } from '../texts/videos.ts';
import { colour, space, text } from '../theme.ts';
import { useWayBack } from './use-way-back.ts';
import { WORK_HEIGHT, WorkProgress } from './work-progress.tsx';

const { limited: texts } = videoTexts;

const Again = styled.div`
  margin-top: ${space(0.5)};
`;
/** As high as the progress from the press of Download on, and still at its end: what stands below stays where it is. */
const State = styled.div<{ $keepsHeight: boolean }>`
  min-height: ${({ $keepsHeight }) => ($keepsHeight ? WORK_HEIGHT : 0)};
`;
const Note = styled.div`
  display: grid;
  gap: ${space(0.5)};
  margin-top: ${space(1)};
  font-size: ${text.s};
  color: ${colour.inkSoft};
  a {
    font-weight: 600;
  }
`;

/** What Download gives where the plan limits its size, and how far that file is; nothing for other videos. */
export function LimitedExportNote({ video }: { readonly video: VideoDto }) {
  const made = video.limitedExport;
  return made ? <ExportNote video={video} made={made} /> : null;
}

function ExportNote({ video, made }: { readonly video: VideoDto; readonly made: LimitedExport }) {
  const make = useMakeExport();
  const cancel = useCancelExport();
  const { shortSide, state, progress, sizeBytes, message } = made;
  const makeButton = useWayBack(state === 'cancelled');
  const isWorking = isAtWork(made);
  const [wasWorking, setWasWorking] = useState(isWorking);
  if (isWorking && !wasWorking) setWasWorking(true);
  const working = texts.working(shortSide, progress);
  const words: Readonly<Record<LimitedExport['state'], string | null>> = {
    absent: texts.absent(shortSide),
    waiting: null,
    working: null,
    ready: texts.ready(shortSide, formatBytes(sizeBytes ?? 0)),
    failed: message,
    cancelled: texts.cancelled(shortSide),
  };
  return (
    <Note>
      <State $keepsHeight={wasWorking || state === 'absent'}>
        {isWorking && (
          <WorkProgress
            note={state === 'working' ? working : texts.waiting(shortSide)}
            label={texts.file(shortSide)}
            percent={progress}
            valueText={working}
            stop={{
              label: texts.cancelLabel(shortSide),
              isPending: cancel.isPending,
              onStop: () => cancel.mutate(video.id),
            }}
          />
        )}
        {!isWorking && <p role={state === 'failed' ? 'alert' : undefined}>{words[state]}</p>}
        {(state === 'failed' || state === 'cancelled') && (
          <Again>
            <Button
              size="s"
              look="secondary"
              icon={state === 'failed' ? 'retry' : 'download'}
              ref={makeButton}
              disabled={make.isPending}
              onClick={() => make.mutate(video.id)}
            >
              {state === 'failed' ? texts.again : texts.make(shortSide)}
            </Button>
          </Again>
        )}
      </State>
      {state !== 'failed' && (
        <p>
          {texts.whole(video.width ?? 0, video.height ?? 0)} <Link to="/upgrade">{texts.upgrade}</Link>
        </p>
      )}
    </Note>
  );
}
