import { useEffect, useRef } from 'react';
import styled from 'styled-components';
import type { VideoDto } from '#common/api/videos.ts';
import { IconButton } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { resultMark, useReport } from '../../data/videos/videos.ts';
import { DefectList } from '../../panels/processing/defect-list.tsx';
import { QuickFixesPanel } from '../../panels/quick-fixes/quick-fixes-panel.tsx';
import { StorylinePanel } from '../../panels/storyline/storyline-panel.tsx';
import { type StoredPlayerHandle, StoredVideoPlayer } from '../../panels/stored-video-player.tsx';
import { UpsellCards } from '../../panels/upsell-cards.tsx';
import { videoTexts } from '../../texts/videos.ts';
import { ofAnyScript, screen, space, text } from '../../theme.ts';

const Box = styled(Card)`
  display: grid;
  gap: ${space(2)};
  padding: ${space(2)};
  /* Leaves room for name, timeline and buttons beside the picture within the 75vh of the library. */
  --player-height: max(200px, calc(75vh - 300px));
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
    ${ofAnyScript}
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

/** The opened card: player with the defects on its timeline, the list of them, and what other plans add. */
export function VideoDetails({ video, aiTools, onClose }: VideoDetailsProps) {
  const { id, originalFileName: name } = video;
  const player = useRef<StoredPlayerHandle>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  const { data: report } = useReport(id, video.hasReport, resultMark(video));
  useEffect(() => heading.current?.focus({ preventScroll: true }), []);
  return (
    <Box aria-label={name}>
      <Head>
        <h2 ref={heading} tabIndex={-1} dir="auto">
          {name}
        </h2>
        <IconButton icon="close" label={videoTexts.card.collapse} onClick={onClose} />
      </Head>
      <Columns>
        <StoredVideoPlayer ref={player} video={video} report={report} />
        <Side>
          {report && (
            <DefectList
              defects={report.defects}
              unchanged={video.unchanged}
              onJump={(ms) => player.current?.seek(ms)}
            />
          )}
          {aiTools ? (
            <>
              <QuickFixesPanel key={video.id} video={video} />
              <StorylinePanel video={video} onJump={(ms) => player.current?.seek(ms)} />
            </>
          ) : (
            <UpsellCards />
          )}
        </Side>
      </Columns>
    </Box>
  );
}
