import { useEffect, useRef } from 'react';
import styled from 'styled-components';
import { buildPath } from '#common/api/endpoint.ts';
import { mediaPaths, type VideoDto } from '#common/api/videos.ts';
import { IconButton } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { marksOf } from '../../components/thread-strip.tsx';
import { type PlayerHandle, VideoPlayer } from '../../components/video-player.tsx';
import { useReport } from '../../data/videos.ts';
import { DefectList } from '../../panels/defect-list.tsx';
import { UpsellCards } from '../../panels/upsell-cards.tsx';
import { videoTexts } from '../../texts/videos.ts';
import { screen, space, text } from '../../theme.ts';

const Box = styled(Card)`
  display: grid;
  gap: ${space(3)};
  padding: ${space(2)};
  ${screen.desktop} {
    padding: ${space(3)};
  }
`;
const Head = styled.div`
  display: flex;
  align-items: center;
  justify-content: space-between;
  gap: ${space(2)};
  h2 {
    min-width: 0;
    overflow: hidden;
    text-overflow: ellipsis;
    font-size: ${text.xl};
    &:focus {
      outline: none;
    }
  }
`;
const Columns = styled.div`
  display: grid;
  gap: ${space(3)};
  align-items: start;
  ${screen.desktop} {
    grid-template-columns: minmax(0, 2fr) minmax(0, 1fr);
  }
`;
const Side = styled.div`
  display: grid;
  gap: ${space(2)};
`;

interface VideoDetailsProps {
  readonly video: VideoDto;
  readonly aiTools: boolean;
  readonly onClose: () => void;
}

/** The opened card: player with the defects on its axis, the list of them, and what other plans add. */
export function VideoDetails({ video, aiTools, onClose }: VideoDetailsProps) {
  const { id, originalFileName: name } = video;
  const player = useRef<PlayerHandle>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  const { data: report } = useReport(id, video.hasReport, String(video.version));
  useEffect(() => heading.current?.focus({ preventScroll: true }), []);
  const path = (template: string): string => buildPath(template, { id });
  return (
    <Box aria-label={name}>
      <Head>
        <h2 ref={heading} tabIndex={-1}>
          {name}
        </h2>
        <IconButton icon="close" label={videoTexts.card.collapse} onClick={onClose} />
      </Head>
      <Columns>
        <VideoPlayer
          ref={player}
          title={name}
          src={path(mediaPaths.stream)}
          downloadHref={path(mediaPaths.download)}
          downloadName={`video-${id}.mp4`}
          poster={video.hasPoster ? path(mediaPaths.poster) : undefined}
          captionsSrc={video.hasCaptions ? path(mediaPaths.captions) : undefined}
          durationMs={video.durationMs}
          width={video.width}
          height={video.height}
          frameRate={report?.result.media.frameRate ?? null}
          marks={report ? marksOf(report.defects) : []}
        />
        <Side>
          {report && (
            <DefectList
              defects={report.defects}
              unchanged={video.unchanged}
              onJump={(ms) => player.current?.seek(ms)}
            />
          )}
          {!aiTools && <UpsellCards />}
        </Side>
      </Columns>
    </Box>
  );
}
