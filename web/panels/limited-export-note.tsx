import { Link } from 'react-router-dom';
import styled from 'styled-components';
import type { VideoDto } from '#common/api/videos.ts';
import { formatBytes } from '#common/format.ts';
import { Button } from '../components/button.tsx';
import { ThreadProgress } from '../components/thread-progress.tsx';
import { useMakeExport } from '../data/videos/download.ts';
import { videoTexts } from '../texts/videos.ts';
import { colour, space, text } from '../theme.ts';

const { limited: texts } = videoTexts;

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
  const make = useMakeExport();
  const made = video.limitedExport;
  if (!made) return null;
  const { shortSide, state, progress, sizeBytes, message } = made;
  const whole = texts.whole(video.width ?? 0, video.height ?? 0);
  if (state === 'running') {
    const words = texts.running(shortSide, progress);
    return (
      <Note>
        <ThreadProgress label={texts.file(shortSide)} percent={progress} valueText={words} size="s" />
        <span>{words}</span>
      </Note>
    );
  }
  if (state === 'failed') {
    return (
      <Note>
        <span role="alert">{message}</span>
        <div>
          <Button size="s" icon="retry" disabled={make.isPending} onClick={() => make.mutate(video.id)}>
            {texts.again}
          </Button>
        </div>
      </Note>
    );
  }
  return (
    <Note>
      <span>
        {state === 'ready' ? texts.ready(shortSide, formatBytes(sizeBytes ?? 0)) : texts.waiting(shortSide)}{' '}
        {whole} <Link to="/upgrade">{texts.upgrade}</Link>
      </span>
    </Note>
  );
}
