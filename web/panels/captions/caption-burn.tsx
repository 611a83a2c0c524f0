import { useState } from 'react';
import { Link } from 'react-router-dom';
import styled from 'styled-components';
import { buildPath } from '#common/api/build-path.ts';
import { type BurnedCaptionsDto, burnedCaptionsPath } from '#common/api/captions.ts';
import { captionStyle, type CaptionStyle } from '#common/caption-styles.ts';
import { isAtWork } from '#common/is-at-work.ts';
import { formatBytes } from '#common/format.ts';
import { Badge } from '../../components/badge.tsx';
import { Button, IconButton } from '../../components/button.tsx';
import { Choices } from '../../components/choices.tsx';
import { Icon } from '../../components/icons.tsx';
import { Moment } from '../../components/moment.tsx';
import { serverMessageOf } from '../../data/api-client.ts';
import {
  useBurnCaptions,
  useBurnedCaptions,
  useCancelBurn,
  useRemoveBurned,
} from '../../data/captions/burned-captions.ts';
import { captionTexts } from '../../texts/captions.ts';
import { colour, figures, space, text } from '../../theme.ts';
import { Failure, fileLinks, Note } from '../panel-parts.tsx';
import { useWayBack } from '../use-way-back.ts';
import { WorkProgress } from '../work-progress.tsx';

const { burn: texts } = captionTexts;

const Part = styled.section`
  display: grid;
  gap: ${space(1)};
  min-width: 0;
  padding-top: ${space(1.5)};
  border-top: 1px dashed ${colour.chalk};
  h4 {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: ${space(1)};
    font-size: ${text.m};
  }
`;
const Row = styled.div`
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  gap: ${space(1)};
  small {
    ${figures}
    font-size: ${text.s};
    color: ${colour.inkSoft};
  }
  ${fileLinks}
`;

const STYLES = captionStyle.options.map((value) => ({ value, label: texts.styles[value] }));

interface CaptionBurnProps {
  readonly videoId: string;
  /** Version of clip and words; see `useBurnedCaptions`. */
  readonly version: string;
  /** Whether the plan includes captions drawn into the picture. */
  readonly allowed: boolean;
  /** Why it cannot be requested now; null when it can. */
  readonly notNow: string | null;
}

/**
 * Captions drawn into the picture, as a separate file: its style, its progress, the file; or which plan includes it.
 */
export function CaptionBurn({ videoId, version, allowed, notNow }: CaptionBurnProps) {
  const { data } = useBurnedCaptions(videoId, version);
  return (
    <Part aria-label={texts.title}>
      <h4>
        {texts.title}
        {!allowed && <Badge icon="lock">{texts.needs}</Badge>}
      </h4>
      <Note>{texts.note}</Note>
      {allowed ? (
        <BurnForm videoId={videoId} version={version} state={data} notNow={notNow} />
      ) : (
        <Row>
          <Link to="/upgrade">{texts.compare}</Link>
          <Link to="/subscribe/creator-pro">{texts.subscribe}</Link>
        </Row>
      )}
      {data?.file && <BurnedFile videoId={videoId} file={data.file} />}
    </Part>
  );
}

interface BurnFormProps {
  readonly videoId: string;
  readonly version: string;
  readonly state: BurnedCaptionsDto | undefined;
  readonly notNow: string | null;
}

function BurnForm({ videoId, version, state, notNow }: BurnFormProps) {
  const [style, setStyle] = useState<CaptionStyle>('box');
  const burn = useBurnCaptions(videoId, version);
  const cancel = useCancelBurn(videoId, version);
  const run = state?.run;
  const makeButton = useWayBack(run?.state === 'cancelled');
  const busy = isAtWork(run) || burn.isPending;
  const percent = run?.progress ?? 0;
  return (
    <>
      <Row>
        <Choices label={texts.style} options={STYLES} value={style} onChange={setStyle} />
        <Button
          size="s"
          icon="captions"
          ref={makeButton}
          disabled={busy || notNow !== null}
          onClick={() => burn.mutate(style)}
        >
          {texts.make}
        </Button>
      </Row>
      {notNow !== null && !busy && <Note>{notNow}</Note>}
      {burn.isError && !busy && (
        <Failure role="alert">{serverMessageOf(burn.error) ?? texts.askFailed}</Failure>
      )}
      {run && isAtWork(run) && (
        <WorkProgress
          note={run.state === 'working' ? texts.working(percent) : (run.message ?? texts.waiting)}
          label={texts.progress}
          percent={percent}
          valueText={texts.working(percent)}
          stop={{
            label: texts.cancelLabel,
            isPending: cancel.isPending,
            onStop: () => cancel.mutate(),
          }}
        />
      )}
      {run?.state === 'failed' && run.message !== null && !burn.isError && <Failure>{run.message}</Failure>}
    </>
  );
}

interface BurnedFileProps {
  readonly videoId: string;
  readonly file: NonNullable<BurnedCaptionsDto['file']>;
}

function BurnedFile({ videoId, file }: BurnedFileProps) {
  const remove = useRemoveBurned(videoId);
  const ask = (): void => {
    if (window.confirm(texts.confirmRemove)) remove.mutate();
  };
  return (
    <Row>
      <strong>{texts.styles[file.style]}</strong>
      {!file.ofCurrent && <Badge>{texts.olderClip}</Badge>}
      {!file.ofWords && <Badge>{texts.olderWords}</Badge>}
      <small>
        {formatBytes(file.sizeBytes)} · <Moment iso={file.createdAt} />
      </small>
      <a href={buildPath(burnedCaptionsPath, { id: videoId })} download aria-label={texts.downloadLabel}>
        <Icon name="download" size={17} />
        {captionTexts.download}
      </a>
      <IconButton icon="trash" tone="danger" label={texts.remove} disabled={remove.isPending} onClick={ask} />
    </Row>
  );
}
