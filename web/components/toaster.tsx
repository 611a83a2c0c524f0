import { useEffect, useRef, useState } from 'react';
import styled, { css, keyframes } from 'styled-components';
import { TOAST } from '#common/limits.ts';
import { type Toast, useToast } from '../data/toasts.ts';
import { appTexts } from '../texts/app.ts';
import { colour, radius, space, text } from '../theme.ts';
import { IconButton } from './button.tsx';
import { Icon } from './icons.tsx';

const arrive = keyframes`
  from { transform: translateY(12px); opacity: 0; }
`;
const Place = styled.div`
  position: fixed;
  z-index: 80;
  left: 50%;
  bottom: calc(env(safe-area-inset-bottom) + 16px);
  width: min(440px, calc(100vw - 32px));
  transform: translateX(-50%);
  pointer-events: none;
`;
const Face = styled.div<{ $destructive: boolean; $closing: boolean }>`
  display: flex;
  align-items: flex-start;
  gap: ${space(1.5)};
  padding: ${space(1.75, 1, 1.75, 2)};
  border: 1px solid ${({ $destructive }) => ($destructive ? colour.defect : colour.lineStrong)};
  border-radius: ${radius.m};
  background: ${colour.raised};
  box-shadow: 0 12px 32px rgb(0 0 0 / 0.3);
  pointer-events: auto;
  animation: ${arrive} 0.25s var(--ease);
  transition: opacity 0.3s;
  & > svg {
    margin-top: 2px;
    color: ${({ $destructive }) => ($destructive ? colour.defect : colour.ok)};
  }
  ${({ $closing }) =>
    $closing &&
    css`
      opacity: 0;
      pointer-events: none;
    `}
`;
const Words = styled.div`
  flex: 1;
  min-width: 0;
`;
const Title = styled.p`
  font-weight: 650;
`;
const Description = styled.p`
  font-size: ${text.s};
  color: ${colour.inkSoft};
`;

/** Runs `end` after `durationMs` in which it was not held; holding pauses the timer, releasing continues it. */
function useHoldableTimer(durationMs: number, held: boolean, end: () => void): void {
  const leftMs = useRef(durationMs);
  const latestEnd = useRef(end);
  useEffect(() => {
    latestEnd.current = end;
  });
  useEffect(() => {
    if (held) return;
    const startedAt = Date.now();
    const timer = setTimeout(() => latestEnd.current(), leftMs.current);
    return () => {
      clearTimeout(timer);
      leftMs.current -= Date.now() - startedAt;
    };
  }, [held]);
}

const SIGNS = { default: 'check', notice: 'lock', destructive: 'alert' } as const;

interface ToastFaceProps {
  readonly toast: Toast;
  readonly onDismiss: () => void;
  readonly onRemove: () => void;
}

function OpenTimer({ held, onEnd }: { readonly held: boolean; readonly onEnd: () => void }) {
  useHoldableTimer(TOAST.durationMs, held, onEnd);
  return null;
}
function RemoveTimer({ onEnd }: { readonly onEnd: () => void }) {
  useHoldableTimer(TOAST.removeDelayMs, false, onEnd);
  return null;
}

function ToastFace({ toast, onDismiss, onRemove }: ToastFaceProps) {
  const [hovered, setHovered] = useState(false);
  const [focused, setFocused] = useState(false);
  const destructive = toast.tone === 'destructive';
  const closing = toast.phase === 'closing';
  useEffect(() => {
    const closeByKey = (event: KeyboardEvent): void => {
      if (event.key === 'Escape') onDismiss();
    };
    window.addEventListener('keydown', closeByKey);
    return () => window.removeEventListener('keydown', closeByKey);
  }, [onDismiss]);
  return (
    <Face
      $destructive={destructive}
      $closing={closing}
      data-toast={toast.phase}
      onMouseEnter={() => setHovered(true)}
      onMouseLeave={() => setHovered(false)}
      onFocus={() => setFocused(true)}
      onBlur={() => setFocused(false)}
    >
      {closing ? <RemoveTimer onEnd={onRemove} /> : <OpenTimer held={hovered || focused} onEnd={onDismiss} />}
      <Icon name={SIGNS[toast.tone ?? 'default']} />
      <Words>
        <Title>{toast.title}</Title>
        {toast.description && <Description>{toast.description}</Description>}
        {toast.reason && <Description>{toast.reason}</Description>}
      </Words>
      <IconButton icon="close" label={appTexts.toast.close} onClick={onDismiss} />
    </Face>
  );
}

/**
 * Shows the one toast. Both live regions are always present, because regions added together with their text are often
 * not announced; failures interrupt, everything else waits its turn.
 */
export function Toaster() {
  const { toast, dismiss, remove } = useToast();
  const face = toast && (
    <ToastFace
      key={toast.id}
      toast={toast}
      onDismiss={() => dismiss(toast.id)}
      onRemove={() => remove(toast.id)}
    />
  );
  const destructive = toast?.tone === 'destructive';
  return (
    <Place role="region" aria-label={appTexts.toast.region}>
      <div role="status">{destructive ? null : face}</div>
      <div role="alert">{destructive ? face : null}</div>
    </Place>
  );
}
