import {
  InfiniteQueryObserver,
  type InfiniteData,
  type InfiniteQueryObserverOptions,
  type InfiniteQueryObserverResult,
  notifyManager,
  type QueryClient,
  type QueryKey,
  QueryObserver,
  type QueryObserverOptions,
  type QueryObserverResult,
} from '@tanstack/react-query';
import { type Atom, atom, type Getter } from 'jotai';
import { queryClientAtom } from 'jotai-tanstack-query';

/** The used part of both observers. */
interface Watching<Options, Result> {
  setOptions(options: Options): void;
  updateResult(): void;
  getCurrentResult(): Result;
  subscribe(listener: (result: Result) => void): () => void;
}

/** Even before anybody subscribes, a result says that it will be fetched, so no page flashes empty. */
const FROM_THE_START = { _optimisticResults: 'optimistic' } as const;

/**
 * Replaces the library's own atoms. Those drop the data of a failed query as soon as nobody subscribes for a moment:
 * when its options change, as they do when push goes down, and when its page is left. A server outage of some seconds
 * emptied pages that way.
 */
function watchingAtom<Options, Result>(
  getOptions: (get: Getter) => Options,
  create: (client: QueryClient, options: Options) => Watching<Options, Result>,
): Atom<Result> {
  const keptAtom = atom(() => new WeakMap<QueryClient, Watching<Options, Result>>());
  // A new object for each change of the options, so that the result is requested again.
  const watchingNowAtom = atom((get) => {
    const client = get(queryClientAtom);
    const options = getOptions(get);
    const kept = get(keptAtom);
    const known = kept.get(client);
    if (known) {
      known.setOptions(options);
      return { observer: known };
    }
    const observer = create(client, options);
    kept.set(client, observer);
    return { observer };
  });
  const shownAtom = atom((get) => {
    const { observer } = get(watchingNowAtom);
    observer.updateResult();
    const shown = atom(observer.getCurrentResult());
    shown.onMount = (set) => observer.subscribe(notifyManager.batchCalls(set));
    return shown;
  });
  return atom((get) => get(get(shownAtom)));
}

/** A query as an atom; its options may depend on other atoms. Data that was read stays available through errors. */
export function atomWithQuery<Read, Failure = Error, Data = Read, Key extends QueryKey = QueryKey>(
  getOptions: (get: Getter) => QueryObserverOptions<Read, Failure, Data, Read, Key>,
): Atom<QueryObserverResult<Data, Failure>> {
  return watchingAtom(
    (get) => ({ ...getOptions(get), ...FROM_THE_START }),
    (client, options) => new QueryObserver(client, options),
  );
}

/** A paged list as an atom; see `atomWithQuery`. */
export function atomWithInfiniteQuery<
  Read,
  Failure = Error,
  Data = InfiniteData<Read>,
  Key extends QueryKey = QueryKey,
  Cursor = unknown,
>(
  getOptions: (get: Getter) => InfiniteQueryObserverOptions<Read, Failure, Data, Key, Cursor>,
): Atom<InfiniteQueryObserverResult<Data, Failure>> {
  return watchingAtom(
    (get) => ({ ...getOptions(get), ...FROM_THE_START }),
    (client, options) => new InfiniteQueryObserver(client, options),
  );
}
