import { videoTexts } from '../texts/videos.ts';
import { Badge, type Tone } from './badge.tsx';
import type { IconName } from './icons.tsx';

const KNOWN: ReadonlyMap<string, { tone: Tone; icon: IconName; label: string }> = new Map([
  ['processing', { tone: 'live', icon: 'clock', label: videoTexts.status.processing }],
  ['completed', { tone: 'ok', icon: 'check', label: videoTexts.status.completed }],
  ['failed', { tone: 'defect', icon: 'alert', label: videoTexts.status.failed }],
] as const);

/** The status of a video; a value unknown to this version is shown unchanged, in neutral colours. */
export function StatusBadge({ status }: { readonly status: string }) {
  const known = KNOWN.get(status);
  if (!known) return <Badge icon="dot">{status}</Badge>;
  return (
    <Badge tone={known.tone} icon={known.icon}>
      {known.label}
    </Badge>
  );
}
