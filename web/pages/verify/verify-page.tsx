import { useEffect, useRef, useState } from 'react';
import styled from 'styled-components';
import { certificatesApi } from '#common/api/certificates.ts';
import { Button } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { DropArea } from '../../components/drop-area.tsx';
import { Icon } from '../../components/icons.tsx';
import { PageHeading, PageMain } from '../../components/page.tsx';
import { type CheckedFile, examineFile, useServerKey } from '../../data/certificate-check.ts';
import { absoluteUrl } from '../../data/url.ts';
import { verifyTexts as texts } from '../../texts/verify.ts';
import { colour, figures, radius, space, text } from '../../theme.ts';
import { CertificateFacts } from './certificate-facts.tsx';
import { FindingList } from './finding-list.tsx';
import { judgeFiles } from './judge-files.ts';

const Frame = styled(PageMain)`
  display: grid;
  grid-template-columns: minmax(0, 1fr);
  align-content: start;
  gap: ${space(3)};
  max-width: 900px;
  h2 {
    font-size: ${text.l};
  }
`;
const Lead = styled.p`
  max-width: 62ch;
  color: ${colour.inkSoft};
`;
const Local = styled.p`
  display: grid;
  grid-template-columns: 20px minmax(0, 1fr);
  gap: ${space(1)};
  font-size: ${text.s};
  color: ${colour.inkSoft};
`;
const Title = styled.strong`
  font-size: ${text.l};
`;
const Small = styled.p`
  font-size: ${text.s};
  color: ${colour.inkSoft};
`;
const Reading = styled.p`
  ${figures}
  min-height: 1.5em;
  font-size: ${text.s};
  overflow-wrap: anywhere;
`;
const Command = styled(Card)`
  display: grid;
  gap: ${space(1)};
  min-width: 0;
  pre {
    ${figures}
    padding: ${space(1.5)};
    border-radius: ${radius.s};
    background: ${colour.sunken};
    font-size: ${text.s};
    white-space: pre-wrap;
    overflow-wrap: anywhere;
  }
`;

interface Progress {
  readonly name: string;
  readonly percent: number;
}

/** Examines files one after the other; clearing discards those still being examined. */
function useCheckedFiles() {
  const [files, setFiles] = useState<readonly CheckedFile[]>([]);
  const [progress, setProgress] = useState<Progress | null>(null);
  const queue = useRef<Promise<void>>(Promise.resolve());
  const round = useRef(0);
  useEffect(
    () => () => {
      round.current += 1;
    },
    [],
  );

  async function take(file: File, mine: number): Promise<void> {
    const show = (share: number) => {
      if (mine === round.current) setProgress({ name: file.name, percent: Math.floor(share * 100) });
    };
    if (mine !== round.current) return;
    show(0);
    const checked = await examineFile(file, show);
    if (mine !== round.current) return;
    setFiles((before) => [...before, checked]);
    setProgress(null);
  }

  return {
    files,
    progress,
    add(picked: readonly File[]) {
      const mine = round.current;
      for (const file of picked) queue.current = queue.current.then(() => take(file, mine));
    },
    clear() {
      round.current += 1;
      setFiles([]);
      setProgress(null);
    },
  };
}

/** Checks a certificate and its clips entirely in the browser; public. */
export function VerifyPage() {
  const { files, progress, add, clear } = useCheckedFiles();
  const serverKey = useServerKey();
  const judgement = judgeFiles(files, serverKey.data?.publicKey ?? null);
  return (
    <Frame>
      <PageHeading title={texts.title}>{texts.title}</PageHeading>
      <Lead>{texts.lead}</Lead>
      <Local>
        <Icon name="lock" />
        {texts.local}
      </Local>
      <DropArea accept={{}} multiple label={texts.drop.label} onFiles={add} onRejected={() => undefined}>
        {(dragging) => (
          <>
            <Title>{dragging ? texts.drop.active : texts.drop.heading}</Title>
            <Small>{texts.drop.text}</Small>
            <Button look="secondary" icon="shield">
              {texts.drop.browse}
            </Button>
          </>
        )}
      </DropArea>
      <Reading role="status">{progress ? texts.reading(progress.name, progress.percent) : ''}</Reading>
      {files.length > 0 && <FindingList judgement={judgement} onClear={clear} />}
      {judgement.certificate && <CertificateFacts certificate={judgement.certificate} />}
      <Command>
        <h2>{texts.command.title}</h2>
        <Small>{texts.command.text}</Small>
        <pre>{texts.command.line}</pre>
        <Small>
          <a href={absoluteUrl(certificatesApi.key.path)}>{texts.command.key}</a>
        </Small>
      </Command>
    </Frame>
  );
}
