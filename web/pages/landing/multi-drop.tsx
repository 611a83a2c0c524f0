import { useEffect, useState } from 'react';
import styled from 'styled-components';
import { HERO_EXTENSIONS } from '#common/limits.ts';
import { ByWidth } from '../../components/by-width.tsx';
import { Button, ButtonLink } from '../../components/button.tsx';
import { rejectionText } from '../../components/rejections.ts';
import { useShowToast } from '../../data/toasts.ts';
import { useEarlyFiles, useLeftOut } from '../../data/uploads/upload-items.ts';
import { landingTexts } from '../../texts/landing.ts';
import { uploadTexts } from '../../texts/uploads.ts';
import { colour, text } from '../../theme.ts';
import { DropArea } from '../../components/drop-area.tsx';

const { multi: texts, hero } = landingTexts;

// Extensions are listed with their own types, because beside a wildcard the library omits the wildcard in the file
// browser.
const ACCEPT = {
  'video/*': [],
  'video/mp4': ['.mp4'],
  'video/quicktime': ['.mov'],
  'video/x-msvideo': ['.avi'],
};
const TYPES = ['video/*', ...HERO_EXTENSIONS].join(', ');

const Title = styled.h3`
  font-size: ${text.l};
`;
const Small = styled.p`
  font-size: ${text.s};
  color: ${colour.inkSoft};
`;
const Problem = styled.p`
  overflow-wrap: anywhere;
  font-size: ${text.s};
  font-weight: 600;
  color: ${colour.defect};
`;

interface MultiDropProps {
  readonly signedIn: boolean;
  readonly dropOnly?: boolean;
  readonly busy?: boolean;
  /** Videos left in the plan this month; null for no limit, undefined until it is known. Files wait for it. */
  readonly room: number | null | undefined;
  readonly onFiles: (files: readonly File[]) => void;
}

/** Card for several files at once; their progress shows in the upload panel. */
export function MultiDrop({ signedIn, dropOnly = false, busy = false, room, onFiles }: MultiDropProps) {
  const showToast = useShowToast();
  const [leftOut, tellLeftOut] = useLeftOut();
  const early = useEarlyFiles();
  const [rejected, setRejected] = useState<string | null>(null);
  const problem = rejected ?? leftOut;
  const take = (files: readonly File[]): void => {
    if (room === undefined) {
      early.keep([...early.files, ...files]);
      return;
    }
    const taken = room === null ? files : files.slice(0, room);
    const left = files.slice(taken.length).map(({ name }) => name);
    // Said before anything is sent, because the server would refuse only after everything has arrived.
    const reason = left.length > 0 ? texts.noRoom(room ?? 0, left) : null;
    // The upload panel covers this card, so both show the reason.
    tellLeftOut(reason);
    if (reason !== null) showToast({ title: texts.notTaken, description: reason, tone: 'destructive' });
    if (taken.length > 0) onFiles(taken);
  };
  const waiting = early.files.length;
  useEffect(() => {
    if (waiting > 0 && room !== undefined) take(early.take());
  });
  return (
    <DropArea
      accept={ACCEPT}
      multiple
      dropOnly={dropOnly}
      label={texts.heading}
      onFiles={(files) => {
        setRejected(null);
        take(files);
      }}
      onRejected={(rejections) => {
        const reason = rejectionText(rejections, TYPES);
        setRejected(reason);
        showToast({ title: uploadTexts.rejected, description: reason, tone: 'destructive' });
      }}
    >
      {() => (
        <>
          <Title>{texts.heading}</Title>
          <Small>
            <ByWidth wide={texts.text} phone={texts.textPhone} />
          </Small>
          {signedIn ? (
            <Button look="secondary" icon="upload" disabled={dropOnly}>
              {busy ? hero.uploading : texts.browse}
            </Button>
          ) : (
            <ButtonLink to="/auth" look="secondary" onClick={(event) => event.stopPropagation()}>
              {hero.signIn}
            </ButtonLink>
          )}
          <Small role="status">{waiting > 0 ? texts.taken(waiting) : texts.limits}</Small>
          {problem && <Problem>{problem}</Problem>}
        </>
      )}
    </DropArea>
  );
}
