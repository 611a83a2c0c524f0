import { Link } from 'react-router-dom';
import styled from 'styled-components';
import type { VideoDto } from '#common/api/videos.ts';
import { formatBytes } from '#common/format.ts';
import { countFixes, PROCESSING_STEPS } from '#common/video.ts';
import { TextButton } from '../../components/text-button.ts';
import { Button, IconButton } from '../../components/button.tsx';
import { ThreadProgress } from '../../components/thread-progress.tsx';
import { formatWait } from '../../components/time-text.ts';
import { type UploadItem } from '../../data/uploads/upload-items.ts';
import { type UploadCommand } from '../../data/uploads/uploads.ts';
import { useDownloadVideo } from '../../data/videos/download.ts';
import { failureOf } from '../../texts/failures.ts';
import { landingTexts } from '../../texts/landing.ts';
import { uploadTexts } from '../../texts/uploads.ts';
import { videoTexts } from '../../texts/videos.ts';
import { colour, figures, font, ofAnyScript, space, text } from '../../theme.ts';

const { panel: texts, states } = uploadTexts;

const Row = styled.li`
  display: grid;
  grid-template-columns: 1fr auto;
  gap: 0 ${space(1)};
  padding: ${space(1, 1, 1, 2)};
  & + & {
    border-top: 1px solid ${colour.line};
  }
`;
const Name = styled.p`
  ${ofAnyScript}
  min-width: 0;
  overflow: hidden;
  white-space: nowrap;
  text-overflow: ellipsis;
  font-weight: 600;
`;
const Buttons = styled.div`
  display: flex;
  grid-row: span 3;
`;
const Facts = styled.div<{ $failed: boolean }>`
  ${figures}
  /* Reserves a line for links, so that nothing below moves when the clip is ready. */
  min-height: 50px;
  @media (pointer: coarse) {
    min-height: 62px;
  }
  font-size: ${text.xs};
  color: ${({ $failed }) => ($failed ? colour.defect : colour.inkSoft)};
  a {
    display: inline-block;
    padding: ${space(0.5, 0)};
  }
`;

const Choice = styled.div`
  font-family: ${font.text};
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  gap: ${space(0, 2)};
  font-size: ${text.s};
  /* Fingers need more than a line of text. */
  @media (pointer: coarse) {
    a,
    button {
      padding-block: ${space(1.25)};
    }
  }
`;

/** An action in a line with links, which looks like them. */
const LineButton = styled(TextButton)`
  padding: ${space(0.5, 0)};
  color: inherit;
  font: inherit;
  font-weight: 600;
`;

interface Reading {
  readonly state: string;
  readonly percent: number;
  readonly detail: string;
}

function transferDetail(item: UploadItem): string {
  const sent = texts.of(formatBytes(item.acknowledgedBytes), formatBytes(item.file.size));
  if (item.state !== 'uploading' || !item.bytesPerSecond) return sent;
  // Lines wrap between the facts, never inside one.
  return [sent, texts.speed(formatBytes(item.bytesPerSecond))]
    .map((fact) => fact.replaceAll(' ', '\u{A0}'))
    .join(' · ');
}

/** Time left of the transfer, beside its state: all facts in one line would wrap when they grow. */
function timeLeft({ state, file, acknowledgedBytes, bytesPerSecond }: UploadItem): string {
  if (state !== 'uploading' || !bytesPerSecond) return '';
  return ` · ${texts.left(formatWait((file.size - acknowledgedBytes) / bytesPerSecond))}`;
}

/** 100 percent means that the server has checked the file, so acknowledged bytes alone stop just below. */
const MOST_BEFORE_CHECKED = 99;

/** The result of a finished clip, in two words; the report has the rest. */
function resultOf({ unchanged, fixesApplied }: VideoDto): string {
  const fixes = countFixes(fixesApplied);
  if (unchanged) return texts.unchanged;
  return fixes > 0 ? landingTexts.dashboard.fixes(fixes) : '';
}

/** The text of a row: first the transfer, then what the server does with the file. */
export function readingOf(item: UploadItem, video: VideoDto | undefined): Reading {
  const percent = Math.min(MOST_BEFORE_CHECKED, Math.floor((item.acknowledgedBytes / item.file.size) * 100));
  if (item.state === 'failed')
    return { state: states.failed, percent, detail: item.reason ?? uploadTexts.failedOneDetail };
  if (item.state === 'known')
    return { state: states.known, percent: 0, detail: texts.known(item.knownName ?? item.file.name) };
  if (item.state !== 'sent') {
    const state = item.state === 'signed_out' ? states.signedOut : states[item.state];
    return { state, percent, detail: transferDetail(item) };
  }
  if (!video) return { state: states.queued, percent: 100, detail: '' };
  if (video.status === 'completed') return { state: states.ready, percent: 100, detail: resultOf(video) };
  if (video.status === 'failed') return { state: states.failed, percent: 100, detail: failureOf(video).what };
  if (video.errorMessage !== null) return { state: states.queued, percent: 0, detail: video.errorMessage };
  if (video.queuePosition !== null && video.currentStep === null)
    return { state: videoTexts.queued(video.queuePosition), percent: 0, detail: '' };
  const step = PROCESSING_STEPS.find(({ id }) => id === video.currentStep)?.label ?? '';
  return { state: states.processing, percent: video.progress, detail: step };
}

interface UploadRowProps {
  readonly item: UploadItem;
  readonly video: VideoDto | undefined;
  readonly onCommand: (command: UploadCommand) => void;
}

/** One file: its state, acknowledged bytes, speed, time left, and its actions. */
export function UploadRow({ item, video, onCommand }: UploadRowProps) {
  const { state, percent, detail } = readingOf(item, video);
  const { name } = item.file;
  const failed = item.state === 'failed' || video?.status === 'failed';
  const sending = ['uploading', 'offline', 'waiting'].includes(item.state);
  const halted = item.state === 'paused';
  const known = item.state === 'known' ? item.videoId : null;
  const ended = item.state === 'failed' || item.state === 'sent' || known !== null;
  const ready = known === null && video?.status === 'completed' ? video.id : null;
  const download = useDownloadVideo('library');
  return (
    <Row>
      <Name dir="auto" title={name}>
        {name}
      </Name>
      <Buttons>
        {sending && item.state !== 'waiting' && (
          <IconButton icon="pause" label={texts.pause(name)} onClick={() => onCommand('pause')} />
        )}
        {halted && <IconButton icon="play" label={texts.resume(name)} onClick={() => onCommand('resume')} />}
        {item.state === 'failed' && (
          <IconButton icon="retry" label={texts.retry(name)} onClick={() => onCommand('retry')} />
        )}
        {ended ? (
          <IconButton icon="close" label={texts.dismiss(name)} onClick={() => onCommand('dismiss')} />
        ) : (
          <IconButton icon="close" label={texts.cancel(name)} onClick={() => onCommand('cancel')} />
        )}
      </Buttons>
      <ThreadProgress
        label={name}
        percent={percent}
        valueText={`${state}, ${Math.round(percent)} percent`}
        size="s"
        live={!ended || (known === null && video?.status === 'processing')}
      />
      <Facts $failed={failed}>
        {state}{' '}
        {failed || ready !== null || known !== null || (ended && !video)
          ? ''
          : `${Math.round(percent)} %${timeLeft(item)}`}
        {ready !== null && detail !== '' ? `· ${detail}` : ''}
        {ready === null && (
          <>
            <br />
            {detail}
          </>
        )}
        {ready !== null && (
          <Choice>
            <LineButton
              type="button"
              aria-label={texts.downloadLabel(name)}
              onClick={() => void download(ready)}
            >
              {texts.download}
            </LineButton>
            <Link to={`/videos/${ready}/report`} aria-label={texts.reportLabel(name)}>
              {texts.report}
            </Link>
            <Link to={`/editor/${ready}`} aria-label={texts.openLabel(name)}>
              {texts.open}
            </Link>
          </Choice>
        )}
        {known !== null && (
          <Choice>
            <Link
              to={`/editor/${known}`}
              aria-label={texts.openLabel(name)}
              onClick={() => onCommand('dismiss')}
            >
              {texts.open}
            </Link>
            <Button size="s" look="quiet" onClick={() => onCommand('anyway')}>
              {texts.again}
            </Button>
          </Choice>
        )}
      </Facts>
    </Row>
  );
}
