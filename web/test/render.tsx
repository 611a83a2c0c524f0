import { type QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { render } from '@testing-library/react';
import { createStore, Provider } from 'jotai';
import { queryClientAtom } from 'jotai-tanstack-query';
import type { ReactNode } from 'react';
import { MemoryRouter, useLocation } from 'react-router-dom';
import { Toaster } from '../components/toaster.tsx';
import { createQueryClient } from '../data/query-client.ts';

type Store = ReturnType<typeof createStore>;

interface Frame {
  readonly store: Store;
  readonly client: QueryClient;
  readonly wrapper: (props: { children: ReactNode }) => ReactNode;
}

function Place() {
  const { pathname, search, hash } = useLocation();
  return <output data-testid="place">{pathname + search + hash}</output>;
}

/** A fresh store, cache and router. */
export function createFrame(path = '/'): Frame {
  const store = createStore();
  const client = createQueryClient();
  store.set(queryClientAtom, client);
  return {
    store,
    client,
    wrapper: ({ children }) => (
      <Provider store={store}>
        <QueryClientProvider client={client}>
          <MemoryRouter initialEntries={[path]}>
            {children}
            <Toaster />
            <Place />
          </MemoryRouter>
        </QueryClientProvider>
      </Provider>
    ),
  };
}

/** Renders a part of the application with everything that surrounds it on pages; `place` shows the address. */
export function renderAt(path: string, element: ReactNode) {
  const frame = createFrame(path);
  return { ...frame, ...render(element, { wrapper: frame.wrapper }) };
}
