import { type ChangeEvent, useRef, useState } from 'react';
import styled from 'styled-components';
import type { OpenUpload } from '#common/api/uploads.ts';
import { HERO_EXTENSIONS } from '#common/limits.ts';
import { formatBytes } from '#common/format.ts';
import { Button } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { useDiscardUpload, useOpenUploads } from '../../data/uploads/open-uploads.ts';
import { useStartUploads } from '../../data/uploads/uploads.ts';
import { landingTexts } from '../../texts/landing.ts';
import { colour, ofAnyScript, space, text } from '../../theme.ts';

const { dashboard: texts } = landingTexts;

const Box = styled(Card)`
  /* A long name without blanks is cut, instead of widening the page. */
  min-width: 0;
  padding: ${space(2, 2.5)};
  border-color: ${colour.liveThread};
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
`;
const Words = styled.div`
  flex: 1 1 240px;
  min-width: 0;
  strong {
    ${ofAnyScript}
    display: block;
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
  }
  small {
    display: block;
    color: ${colour.inkSoft};
    font-size: ${text.s};
  }
`;
const Ways = styled.div`
  display: flex;
  flex-wrap: wrap;
  gap: ${space(1)};
`;
const Other = styled.p`
  flex: 1 1 100%;
  color: ${colour.defect};
  font-size: ${text.s};
`;

function OpenUploadRow({ upload }: { readonly upload: OpenUpload }) {
  const startUploads = useStartUploads();
  const discard = useDiscardUpload();
  const picker = useRef<HTMLInputElement>(null);
  const [other, setOther] = useState<string | null>(null);
  const { id, offsetBytes, sizeBytes } = upload;
  const name = upload.fileName ?? texts.openUnnamed;
  const goOn = (event: ChangeEvent<HTMLInputElement>): void => {
    const [file] = event.target.files ?? [];
    // Picking the same file again must fire an event, too.
    event.target.value = '';
    if (!file) return;
    // Another file would start a separate upload and leave this one unfinished.
    if (sizeBytes !== null && file.size !== sizeBytes)
      return setOther(texts.otherFile(file.name, formatBytes(file.size), formatBytes(sizeBytes)));
    setOther(null);
    // A single clip is followed in the hero, like one that is dropped there.
    startUploads([file], 'hero');
  };
  return (
    <li>
      <Words>
        <strong dir="auto" title={name}>
          {name}
        </strong>
        <small>
          {texts.openUpload(formatBytes(offsetBytes), sizeBytes === null ? '?' : formatBytes(sizeBytes))}
        </small>
      </Words>
      <Ways>
        <input
          ref={picker}
          type="file"
          accept={['video/*', ...HERO_EXTENSIONS].join(',')}
          hidden
          aria-label={texts.goOnLabel(name)}
          onChange={goOn}
        />
        <Button size="s" icon="upload" onClick={() => picker.current?.click()}>
          {texts.goOn}
        </Button>
        <Button
          size="s"
          look="quiet"
          icon="trash"
          disabled={discard.isPending}
          onClick={() => discard.mutate(id)}
        >
          {texts.discard}
        </Button>
      </Ways>
      {other !== null && <Other role="alert">{other}</Other>}
    </li>
  );
}

/** Unfinished uploads from here or another device; picking the file again continues one. */
export function OpenUploads() {
  const uploads = useOpenUploads();
  if (uploads.length === 0) return null;
  return (
    <Box aria-labelledby="open-uploads">
      <h3 id="open-uploads">{texts.openUploads}</h3>
      <ul>
        {uploads.map((upload) => (
          <OpenUploadRow key={upload.id} upload={upload} />
        ))}
      </ul>
    </Box>
  );
}
