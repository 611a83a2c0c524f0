import { type ReactNode, useState } from 'react';
import { HERO_EXTENSIONS } from '#common/limits.ts';
import { ByWidth } from '../../components/by-width.tsx';
import { Icon } from '../../components/icons.tsx';
import { rejectionText } from '../../components/rejections.ts';
import { useShowToast } from '../../data/toasts.ts';
import { useUploads } from '../../data/uploads/upload-items.ts';
import { landingTexts } from '../../texts/landing.ts';
import { uploadTexts } from '../../texts/uploads.ts';
import { DropArea } from '../../components/drop-area.tsx';
import { DropNote, DropProblem, DropTitle } from './hero-layout.tsx';

const { hero: texts } = landingTexts;

const ACCEPT = { 'video/mp4': ['.mp4'], 'video/quicktime': ['.mov'], 'video/x-msvideo': ['.avi'] };
const TYPES = HERO_EXTENSIONS.join(', ');

interface HeroDropProps {
  readonly disabled?: boolean;
  readonly dropOnly?: boolean;
  readonly onFile: (file: File) => void;
  readonly button: ReactNode;
  /** Replaces the invitation. */
  readonly title?: string | undefined;
  /** Shown below the button instead of the limits. */
  readonly note?: ReactNode;
}

/**
 * The drop area of the hero: one .mp4, .mov or .avi file; rejections are shown as a toast and stay below the button.
 */
export function HeroDrop({ disabled = false, dropOnly = false, onFile, button, title, note }: HeroDropProps) {
  const showToast = useShowToast();
  const newest = useUploads().at(-1)?.id ?? 0;
  const [refusal, setRefusal] = useState<{ readonly reason: string; readonly after: number } | null>(null);
  // Any accepted file clears a rejection; until then it stays.
  const problem = refusal !== null && newest <= refusal.after ? refusal.reason : null;
  return (
    <DropArea
      accept={ACCEPT}
      multiple={false}
      disabled={disabled}
      dropOnly={dropOnly}
      label={texts.drop}
      onFiles={([file]) => {
        setRefusal(null);
        if (file) onFile(file);
      }}
      onRejected={(rejections) => {
        const reason = rejectionText(rejections, TYPES);
        setRefusal({ reason, after: newest });
        showToast({ title: uploadTexts.rejected, description: reason, tone: 'destructive' });
      }}
    >
      {(dragging) => (
        <>
          <Icon name="upload" size={40} />
          <DropTitle>
            {dragging ? texts.dropActive : (title ?? <ByWidth wide={texts.drop} phone={texts.dropPhone} />)}
          </DropTitle>
          {button}
          {note ?? <DropNote>{texts.limits}</DropNote>}
          {problem && <DropProblem>{problem}</DropProblem>}
        </>
      )}
    </DropArea>
  );
}
