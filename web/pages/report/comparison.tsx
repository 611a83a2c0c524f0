import { useState } from 'react';
import styled from 'styled-components';
import type { VideoDto } from '#common/api/videos.ts';
import type { Defect } from '#common/report.ts';
import { Button } from '../../components/button.tsx';
import { ComparisonPanel } from '../../panels/comparison-panel.tsx';
import { reportTexts as texts } from '../../texts/report.ts';

const Box = styled.div`
  @media print {
    display: none;
  }
`;

/** The before/after clip within the report, made and loaded only on request. */
export function Comparison({
  video,
  defects,
}: {
  readonly video: VideoDto;
  readonly defects: readonly Defect[];
}) {
  const [open, setOpen] = useState(false);
  if (!defects.some(({ outcome }) => outcome === 'repaired')) return null;
  return (
    <Box>
      {open ? (
        <ComparisonPanel video={video} defects={defects} takeFocus />
      ) : (
        <Button icon="play" onClick={() => setOpen(true)}>
          {texts.compare}
        </Button>
      )}
    </Box>
  );
}
