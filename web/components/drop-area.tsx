import { type Accept, type FileRejection, useDropzone } from 'react-dropzone';
import type { ReactNode } from 'react';
import styled from 'styled-components';
import { MAX_UPLOAD_BYTES, MIN_UPLOAD_BYTES } from '#common/limits.ts';
import { colour, radius, space } from '../theme.ts';

const Patch = styled.div<{ $active: boolean; $disabled: boolean }>`
  position: relative;
  display: grid;
  place-content: center;
  justify-items: center;
  gap: ${space(2)};
  padding: ${space(4, 3)};
  border-radius: ${radius.m};
  background: ${({ $active }) => ($active ? colour.liveSoft : colour.raised)};
  text-align: center;
  cursor: ${({ $disabled }) => ($disabled ? 'default' : 'pointer')};
  transition: background-color 0.2s var(--ease);
  & > svg[data-hem] {
    position: absolute;
    inset: 0;
    width: 100%;
    height: 100%;
    pointer-events: none;
  }
  & rect {
    fill: none;
    stroke: ${({ $active }) => ($active ? colour.liveThread : colour.lineStrong)};
    stroke-width: 3;
    stroke-linecap: round;
    stroke-dasharray: 13 8;
    transition: stroke 0.2s;
  }
  &:hover rect {
    stroke: ${({ $disabled, $active }) =>
      $disabled ? colour.lineStrong : $active ? colour.liveThread : colour.inkSoft};
  }
`;

function Hem() {
  return (
    <svg data-hem="" aria-hidden="true">
      <rect x="8" y="8" rx="9" style={{ width: 'calc(100% - 16px)', height: 'calc(100% - 16px)' }} />
    </svg>
  );
}

interface DropAreaProps {
  readonly accept: Accept;
  readonly multiple: boolean;
  readonly disabled?: boolean;
  /** Accepts dropped files but opens no file browser; for while nothing could wait for the choice. */
  readonly dropOnly?: boolean;
  readonly label: string;
  readonly onFiles: (files: File[]) => void;
  readonly onRejected: (rejections: FileRejection[]) => void;
  readonly children: (dragging: boolean) => ReactNode;
}

/**
 * An area that accepts dropped files. A click anywhere opens the file browser; keyboards reach the button inside, whose
 * click bubbles to the area. What is dropped beside it is left to `useStrayDrops`.
 */
export function DropArea({
  accept,
  multiple,
  disabled = false,
  dropOnly = false,
  label,
  onFiles,
  onRejected,
  children,
}: DropAreaProps) {
  const { getRootProps, getInputProps, isDragActive } = useDropzone({
    accept,
    multiple,
    disabled,
    minSize: MIN_UPLOAD_BYTES,
    maxSize: MAX_UPLOAD_BYTES,
    noKeyboard: true,
    noClick: dropOnly,
    preventDropOnDocument: false,
    useFsAccessApi: false,
    onDrop: (files, rejections, event) => {
      // An input that still contains a file fires no change event when the same file is picked again.
      if (event.target instanceof HTMLInputElement) event.target.value = '';
      // The library would keep the first of several files, but which one was meant is not ours to guess.
      if (files.length > 0 && (multiple || rejections.length === 0)) onFiles(files);
      if (rejections.length > 0) onRejected(rejections);
    },
  });
  return (
    <Patch {...getRootProps()} $active={isDragActive} $disabled={disabled || dropOnly} data-drop="">
      <Hem />
      {!dropOnly && <input {...getInputProps({ 'aria-label': label })} />}
      {children(isDragActive)}
    </Patch>
  );
}
