import { useMemo, useRef, useState } from 'react';
import { Link } from 'react-router-dom';
import styled from 'styled-components';
import type { CaptionsDto } from '#common/api/captions.ts';
import { buildPath } from '#common/api/endpoint.ts';
import { mediaPaths, type VideoDto } from '#common/api/videos.ts';
import { countWorded } from '#common/captions.ts';
import { FIXES, HAND_FIXES } from '#common/fixes.ts';
import { formatBytes } from '#common/format.ts';
import { planAllows, type PlanSlug } from '#common/plans.ts';
import { Badge } from '../../components/badge.tsx';
import { Card } from '../../components/card.tsx';
import { Icon } from '../../components/icons.tsx';
import { Skeleton } from '../../components/skeleton.tsx';
import { useCaptions } from '../../data/captions/captions.ts';
import { createPlayClock } from '../../data/videos/play-clock.ts';
import { resultMark, useReport } from '../../data/videos/videos.ts';
import { CaptionsPanel } from '../../panels/captions/captions-panel.tsx';
import { DownloadButton } from '../../panels/download-button.tsx';
import { DefectList } from '../../panels/processing/defect-list.tsx';
import { NoticedPanel } from '../../panels/noticed/noticed-panel.tsx';
import { KeptFixFiles } from '../../panels/quick-fixes/fix-files.tsx';
import { LimitedExportNote } from '../../panels/limited-export-note.tsx';
import { CurrentPlatformList } from '../../panels/quick-fixes/current-platform-list.tsx';
import { QuickFixesPanel } from '../../panels/quick-fixes/quick-fixes-panel.tsx';
import { StorylinePanel } from '../../panels/storyline/storyline-panel.tsx';
import { type StoredPlayerHandle, StoredVideoPlayer } from '../../panels/stored-video-player.tsx';
import { UpsellCards } from '../../panels/upsell-cards.tsx';
import { editorTexts as texts } from '../../texts/editor.ts';
import { clampLines, colour, figures, ofAnyScript, screen, space, text } from '../../theme.ts';

const Bench = styled.div`
  display: grid;
  gap: ${space(3)};
  min-width: 0;
`;
const Stage = styled(Card)`
  display: grid;
  gap: ${space(2)};
  padding: ${space(2)};
  min-width: 0;
  /* Leaves room for what is above and the controls below, so that the whole player is visible at once. */
  --player-height: clamp(260px, calc(100vh - 400px), 62vh);
  h2 {
    ${ofAnyScript}
    flex: 1 1 9ch;
    min-width: 0;
    ${clampLines(3)}
    font-size: ${text.xl};
    overflow-wrap: anywhere;
  }
`;
const Head = styled.div`
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  gap: ${space(1, 2)};
`;
/** Links to the sections of a long page: one line, which scrolls sideways where a phone is too narrow. */
const Places = styled.nav`
  display: flex;
  gap: ${space(0, 2.5)};
  flex-wrap: wrap;
  /* On a separate line below name and download, or between them where there is room. */
  order: 1;
  flex: 1 0 100%;
  ${screen.wide} {
    order: 0;
    flex: none;
  }
  a {
    display: inline-flex;
    align-items: center;
    min-height: 44px;
    white-space: nowrap;
    font-size: ${text.s};
    font-weight: 600;
  }
`;
const Place = styled.div`
  display: grid;
  min-width: 0;
  &:focus {
    outline: none;
  }
`;
const Side = styled.div`
  display: grid;
  align-items: start;
  gap: ${space(2)};
  ${screen.tablet} {
    grid-template-columns: 1fr 1fr;
  }
`;
const Versions = styled(Card)`
  display: grid;
  gap: ${space(1)};
  padding: ${space(2)};
  h3 {
    font-size: ${text.l};
  }
  li {
    display: grid;
    grid-template-columns: minmax(0, 1fr) auto;
    align-items: center;
    gap: ${space(1, 2)};
    padding: ${space(1, 0)};
    border-top: 1px dashed ${colour.chalk};
  }
  a {
    display: inline-flex;
    align-items: center;
    gap: ${space(0.5)};
    min-height: 36px;
    font-size: ${text.s};
    font-weight: 600;
  }
`;

const Name = styled.span`
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  gap: ${space(0.5, 1)};
  & > span:last-child {
    ${figures}
    font-size: ${text.s};
    color: ${colour.inkFaint};
  }
`;

/** Height of the list with one finding, the usual case. */
const FINDINGS_HEIGHT = '112px';

/** Number of cues, and whether their words are known: times are measured, words never invented. */
function captionFacts({ cues }: CaptionsDto): string {
  return texts.cues(cues.length, countWorded(cues));
}

/** Name of the current version by what it contains beside the repair. */
function nameOfResult({ fixesApplied }: VideoDto): string {
  if (FIXES.some(({ id }) => fixesApplied[id] === true)) return texts.fixed;
  return HAND_FIXES.some(({ id }) => fixesApplied[id] === true) ? texts.mendedAgain : texts.repaired;
}

interface WorkbenchProps {
  readonly video: VideoDto;
  readonly plan: PlanSlug;
  /** Starts with the comparison of before and after. */
  readonly compare?: boolean;
}

/** Player, defects, AI tools and versions of the chosen video; other plans see the tools locked. */
export function Workbench({ video, plan, compare = false }: WorkbenchProps) {
  const { id, originalFileName: name } = video;
  const player = useRef<StoredPlayerHandle>(null);
  const { data: report, isLoading: isReading } = useReport(id, video.hasReport, resultMark(video));
  const path = (template: string): string => buildPath(template, { id });
  const captions = useCaptions(id, resultMark(video)).data;
  const [clock] = useState(createPlayClock);
  const [isCompared, setCompared] = useState(compare);
  const captionPlayer = useMemo(
    () => ({
      seek: (ms: number) => player.current?.seekResult(ms),
      nowMs: () => player.current?.nowMs() ?? 0,
      clock,
    }),
    [clock],
  );
  return (
    <Bench>
      <Stage aria-label={name}>
        <Head>
          <h2 dir="auto" title={name}>
            {name}
          </h2>
          <Places aria-label={texts.places.label}>
            {captions && <Link to="#captions">{texts.places.captions}</Link>}
            <Link to="#tools">{texts.places.tools}</Link>
            <Link to="#files">{texts.places.files}</Link>
            {video.hasReport && <Link to={`/videos/${id}/report`}>{texts.report}</Link>}
          </Places>
          <DownloadButton video={video} />
        </Head>
        <StoredVideoPlayer
          ref={player}
          video={video}
          report={report}
          captionsMark={
            captions ? `${captions.revision}-${captions.axis}-${captions.soundMovedMs}` : undefined
          }
          onTime={clock.set}
          compare={compare}
          onCompared={setCompared}
        />
        {report ? (
          <DefectList
            defects={report.defects}
            unchanged={video.unchanged}
            onJump={(ms) => player.current?.seek(ms)}
          />
        ) : (
          isReading && <Skeleton $height={FINDINGS_HEIGHT} />
        )}
      </Stage>
      <Place id="noticed" tabIndex={-1}>
        <NoticedPanel video={video} player={captionPlayer} isCompared={isCompared} report={report} />
      </Place>
      <Place id="captions" tabIndex={-1}>
        <CaptionsPanel video={video} player={captionPlayer} plan={plan} />
      </Place>
      <Side id="tools" tabIndex={-1}>
        {planAllows(plan, 'ai_tools') ? (
          <>
            <QuickFixesPanel key={video.id} video={video} />
            <StorylinePanel video={video} onJump={(ms) => player.current?.seek(ms)} />
          </>
        ) : (
          <UpsellCards />
        )}
      </Side>
      {!planAllows(plan, 'ai_tools') && <KeptFixFiles videoId={id} />}
      <CurrentPlatformList key={id} video={video} report={report} />
      <Versions id="files" tabIndex={-1}>
        <h3>{texts.versions}</h3>
        <LimitedExportNote video={video} />
        <ul>
          {!video.unchanged && (
            <li>
              <Name>
                {nameOfResult(video)} <Badge tone="ok">{texts.current}</Badge>
                {video.resultSizeBytes !== null && <span>{formatBytes(video.resultSizeBytes)}</span>}
              </Name>
              {(!video.limitedExport || video.limitedExport.state === 'ready') && (
                <a href={path(mediaPaths.download)} download={`video-${id}.mp4`}>
                  <Icon name="download" size={17} />
                  {texts.download}
                </a>
              )}
            </li>
          )}
          <li>
            <Name>
              {texts.original} {video.unchanged && <Badge tone="ok">{texts.current}</Badge>}
              <span>{formatBytes(video.fileSize)}</span>
            </Name>
            <a href={path(mediaPaths.original)} download={name}>
              <Icon name="download" size={17} />
              {texts.download}
            </a>
          </li>
          {video.hasCaptions && (
            <li>
              <Name>
                {texts.captions}
                {captions && <span>{captionFacts(captions)}</span>}
              </Name>
              <a href={path(mediaPaths.captions)} download={`captions-${id}.vtt`}>
                <Icon name="download" size={17} />
                {texts.download}
              </a>
            </li>
          )}
        </ul>
      </Versions>
    </Bench>
  );
}
