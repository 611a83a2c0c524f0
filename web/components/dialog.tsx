import * as Radix from '@radix-ui/react-dialog';
import type { ReactNode } from 'react';
import styled from 'styled-components';
import { appTexts } from '../texts/app.ts';
import { colour, radius, space, text } from '../theme.ts';
import { IconButton } from './button.tsx';

const Veil = styled(Radix.Overlay)`
  position: fixed;
  inset: 0;
  z-index: 70;
  background: rgb(5 7 18 / 0.6);
`;
const Panel = styled(Radix.Content)`
  position: fixed;
  z-index: 71;
  inset: auto 0 0;
  max-height: 85dvh;
  overflow: auto;
  padding: ${space(3)};
  border: 1px solid ${colour.line};
  border-radius: ${radius.m} ${radius.m} 0 0;
  background: ${colour.raised};
  @media (min-width: 640px) {
    inset: 50% auto auto 50%;
    width: min(560px, calc(100vw - 48px));
    transform: translate(-50%, -50%);
    border-radius: ${radius.m};
  }
`;
const Head = styled.div`
  display: flex;
  align-items: center;
  justify-content: space-between;
  gap: ${space(2)};
  margin-bottom: ${space(2)};
`;
const Title = styled(Radix.Title)`
  font-size: ${text.xl};
`;

interface DialogProps {
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
  readonly title: string;
  readonly children: ReactNode;
}

/** A dialog over the page; on phones a sheet from below. */
export function Dialog({ open, onOpenChange, title, children }: DialogProps) {
  return (
    <Radix.Root open={open} onOpenChange={onOpenChange}>
      <Radix.Portal>
        <Veil />
        <Panel aria-describedby={undefined}>
          <Head>
            <Title>{title}</Title>
            <Radix.Close asChild>
              <IconButton icon="close" label={appTexts.dialogClose} />
            </Radix.Close>
          </Head>
          {children}
        </Panel>
      </Radix.Portal>
    </Radix.Root>
  );
}
