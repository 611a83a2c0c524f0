import { act, fireEvent, render, screen } from '@testing-library/react';
import { createStore, Provider } from 'jotai';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { showToast, toastAtom, type ToastContent } from '../data/toasts.ts';
import { Toaster } from './toaster.tsx';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function showing(content: ToastContent) {
  const store = createStore();
  render(
    <Provider store={store}>
      <Toaster />
    </Provider>,
  );
  const show = (next: ToastContent): void => act(() => showToast(store, next));
  show(content);
  return { store, show, pass: (ms: number) => act(() => vi.advanceTimersByTime(ms)) };
}

describe('Toaster', () => {
  it('shows one toast at a time: a new one replaces the old', () => {
    const { show } = showing({ title: 'First' });
    show({ title: 'Second', description: 'More words' });
    expect(screen.queryByText('First')).not.toBeInTheDocument();
    expect(screen.getByText('Second')).toBeInTheDocument();
    expect(screen.getByText('More words')).toBeInTheDocument();
  });

  it('closes after 3000 ms and is removed 1000 ms later', () => {
    const { store, pass } = showing({ title: 'Saved' });
    pass(2999);
    expect(store.get(toastAtom)?.phase).toBe('open');
    pass(1);
    expect(store.get(toastAtom)?.phase).toBe('closing');
    pass(999);
    expect(screen.getByText('Saved')).toBeInTheDocument();
    pass(1);
    expect(screen.queryByText('Saved')).not.toBeInTheDocument();
  });

  it('stops its timer while the pointer is over it, and continues with the rest afterwards', () => {
    const { store, pass } = showing({ title: 'Saved' });
    pass(2000);
    fireEvent.mouseEnter(screen.getByText('Saved'));
    pass(10_000);
    expect(store.get(toastAtom)?.phase).toBe('open');
    fireEvent.mouseLeave(screen.getByText('Saved'));
    pass(999);
    expect(store.get(toastAtom)?.phase).toBe('open');
    pass(1);
    expect(store.get(toastAtom)?.phase).toBe('closing');
  });

  it('stops its timer while it has the focus', () => {
    const { store, pass } = showing({ title: 'Saved' });
    act(() => screen.getByRole('button', { name: 'Close message' }).focus());
    pass(10_000);
    expect(store.get(toastAtom)?.phase).toBe('open');
  });

  it('closes by its button and by Escape', () => {
    const { store, show } = showing({ title: 'Saved' });
    fireEvent.click(screen.getByRole('button', { name: 'Close message' }));
    expect(store.get(toastAtom)?.phase).toBe('closing');
    show({ title: 'Again' });
    fireEvent.keyDown(window, { key: 'Escape' });
    expect(store.get(toastAtom)?.phase).toBe('closing');
  });

  it('announces failures at once and everything else politely', () => {
    const { show } = showing({ title: 'Saved' });
    expect(screen.getByRole('status')).toHaveTextContent('Saved');
    show({ title: 'Delete failed', tone: 'destructive' });
    expect(screen.getByRole('alert')).toHaveTextContent('Delete failed');
    expect(screen.getByRole('status')).toBeEmptyDOMElement();
  });
});
