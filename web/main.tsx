import './styles/fonts.css';
import './styles/theme.css';
import { QueryClientProvider } from '@tanstack/react-query';
import { createStore, Provider } from 'jotai';
import { queryClientAtom } from 'jotai-tanstack-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { BrowserRouter } from 'react-router-dom';
import { App } from './app.tsx';
import { prepareLibraries } from './browser-libraries.ts';
import { createQueryClient } from './data/query-client.ts';
import { preloadPage } from './routes.tsx';

prepareLibraries();
preloadPage(window.location.pathname);

const store = createStore();
const client = createQueryClient();
store.set(queryClientAtom, client);

const root = document.getElementById('root');
if (!root) throw new Error('The page has no #root element.');
createRoot(root).render(
  <StrictMode>
    <Provider store={store}>
      <QueryClientProvider client={client}>
        <BrowserRouter>
          <App />
        </BrowserRouter>
      </QueryClientProvider>
    </Provider>
  </StrictMode>,
);
