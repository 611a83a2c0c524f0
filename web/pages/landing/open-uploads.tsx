import styled from 'styled-components';
import { formatBytes } from '#common/format.ts';
import { Button } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { useDiscardUpload, useOpenUploads } from '../../data/uploads/open-uploads.ts';
import { landingTexts } from '../../texts/landing.ts';
import { colour, space, text } from '../../theme.ts';

const { dashboard: texts } = landingTexts;

const Box = styled(Card)`
  padding: ${space(2.5)};
  h3 {
    font-size: ${text.l};
  }
  li {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    justify-content: space-between;
    gap: ${space(1)};
    padding-top: ${space(1.5)};
  }
  small {
    display: block;
    color: ${colour.inkFaint};
    font-size: ${text.s};
  }
`;

/** Uploads that were begun and not finished, here or on another device; picking the file again goes on. */
export function OpenUploads() {
  const uploads = useOpenUploads();
  const discard = useDiscardUpload();
  if (uploads.length === 0) return null;
  return (
    <Box aria-labelledby="open-uploads">
      <h3 id="open-uploads">{texts.openUploads}</h3>
      <ul>
        {uploads.map((upload) => (
          <li key={upload.id}>
            <span>
              {upload.fileName ?? upload.id}
              <small>
                {texts.openUpload(
                  formatBytes(upload.offsetBytes),
                  upload.sizeBytes === null ? '?' : formatBytes(upload.sizeBytes),
                )}
              </small>
            </span>
            <Button
              size="s"
              look="quiet"
              icon="trash"
              disabled={discard.isPending}
              onClick={() => discard.mutate(upload.id)}
            >
              {texts.discard}
            </Button>
          </li>
        ))}
      </ul>
    </Box>
  );
}
