import { act, render, screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { HttpResponse } from 'msw';
import { describe, expect, it } from 'vitest';
import { ideasApi } from '#common/api/ideas.ts';
import type { AnyEndpoint } from '#common/api/endpoint.ts';
import { ReputationBadge } from '../../components/reputation-badge.tsx';
import { queryKeyOf, SESSION_KEY } from '../../data/query-client.ts';
import { renderAt } from '../../test/render.tsx';
import { on, refusal, server, signedIn, sizeOf, user } from '../../test/server.ts';
import { colour } from '../../theme.ts';
import { Nice2HavePage } from './nice2have-page.tsx';

const person = userEvent.setup({ delay: null });

function makeIdea(id: string, change: Record<string, unknown> = {}) {
  return {
    id,
    text: `Text of ${id}`,
    userName: 'Anonymous',
    createdAt: '2026-05-04T10:00:00.000Z',
    votes: 0,
    reputation: 0,
    votedByMe: false,
    mine: false,
    ...change,
  };
}

function open({ ideas = [], leaders = [] }: { ideas?: unknown[]; leaders?: unknown[] } = {}) {
  const reads = { ideas: 0 };
  server.use(
    signedIn(),
    on(ideasApi.list, () => {
      reads.ideas += 1;
      return HttpResponse.json(ideas);
    }),
    on(ideasApi.leaderboard, () => HttpResponse.json(leaders)),
  );
  return { ...renderAt('/nice2have', <Nice2HavePage />), reads };
}
const row = async (text: string): Promise<HTMLElement> => {
  const words = await screen.findByText(text);
  return words.closest('li') ?? document.body;
};

describe('the board', () => {
  it('has its three parts, the way back and the quiet states', async () => {
    open();
    expect(screen.getByRole('link', { name: 'Back to Dashboard' })).toHaveAttribute('href', '/');
    expect(screen.getByText('Loading ideas...')).toBeInTheDocument();
    expect(await screen.findByText('No ideas submitted yet')).toBeInTheDocument();
    expect(screen.getByText('Be the first to share your suggestion!')).toBeInTheDocument();
    expect(await screen.findByText('No contributors yet')).toBeInTheDocument();
    expect(screen.getAllByRole('heading', { level: 2 }).map((heading) => heading.textContent)).toEqual([
      'Submit Your Idea',
      'Community Ideas',
      'Reputation Leaders',
    ]);
    expect(screen.getByText('0 ideas submitted')).toBeInTheDocument();
    expect(screen.getByRole('heading', { name: 'How to earn reputation' })).toBeInTheDocument();
    expect(screen.getByText('Submit an idea: +10 points')).toBeInTheDocument();
    expect(screen.getByText('Each vote your idea receives: +5 points')).toBeInTheDocument();
    expect(screen.getByText(/Popular ideas earn bonus points/)).toBeInTheDocument();
  });

  it('shows each author and text with badge, date, status and votes', async () => {
    open({
      ideas: [
        makeIdea('a', { userName: 'mara-films', reputation: 320, status: 'planned', votes: 3 }),
        makeIdea('b', { text: '<img src=x onerror=alert(1)>', votes: undefined }),
      ],
    });
    const first = within(await row('Text of a'));
    expect(first.getByText('mara-films')).toBeInTheDocument();
    expect(first.getByTestId('reputation-badge-expert')).toHaveTextContent('Expert');
    expect(first.getByText('planned')).toBeInTheDocument();
    expect(first.getByRole('button', { name: 'Vote, 3 votes' })).toBeInTheDocument();
    const second = await row('<img src=x onerror=alert(1)>');
    expect(second.querySelector('time')).toHaveAttribute('datetime', '2026-05-04T10:00:00.000Z');
    expect(second.querySelector('img')).toBeNull();
    expect(within(second).getByRole('button', { name: 'Vote, 0 votes' })).toBeInTheDocument();
    const newcomer = within(second).getByTestId('reputation-badge-newcomer');
    // Name, level and date, no status.
    expect(newcomer.parentElement?.childElementCount).toBe(3);
    expect(screen.getByText('2 ideas submitted')).toBeInTheDocument();
  });

  it.each([
    ['considering', colour.warn],
    ['planned', colour.info],
    ['in-progress', colour.violet],
    ['completed', colour.ok],
    ['archived', colour.inkSoft],
  ])('gives the status %s its colour', async (status, expected) => {
    open({ ideas: [makeIdea('a', { status })] });
    const badge = within(await row('Text of a')).getByText(status);
    const rules = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules]);
    const own = rules.filter(
      (rule): rule is CSSStyleRule =>
        rule instanceof CSSStyleRule && badge.matches(rule.selectorText) && rule.style.color !== '',
    );
    expect(own.at(-1)?.style.color).toBe(expected);
  });

  it('folds an idea of 2000 characters until somebody expands it, and leaves short ones whole', async () => {
    const long = 'Mend several clips as one. '.repeat(74).trim();
    open({ ideas: [makeIdea('a', { text: long }), makeIdea('b')] });
    const words = await screen.findByText(long);
    expect(screen.getAllByRole('button', { name: 'Show the whole idea' })).toHaveLength(1);
    const lines = () => getComputedStyle(words).getPropertyValue('-webkit-line-clamp');
    expect(lines()).not.toBe('');
    await person.click(screen.getByRole('button', { name: 'Show the whole idea' }));
    expect(lines()).toBe('');
    expect(screen.getByRole('button', { name: 'Show less' })).toHaveAttribute('aria-expanded', 'true');
  });

  it('ranks the first five with gold, silver and bronze', async () => {
    open({
      leaders: [900, 700, 500, 300, undefined, 50].map((reputation, index) => ({
        id: `p${index}`,
        username: `person-${index}`,
        reputation,
      })),
    });
    expect(await screen.findByText('person-4')).toBeInTheDocument();
    expect(screen.queryByText('person-5')).not.toBeInTheDocument();
    expect(screen.getByText('900 points')).toBeInTheDocument();
    expect(screen.getByText('0 points')).toBeInTheDocument();
    const first = within(await row('person-0'));
    expect(first.getByTestId('reputation-badge-guru')).toBeInTheDocument();
    const ranks = ['1', '2', '3', '4'].map(
      (rank) => getComputedStyle(screen.getByText(rank, { selector: 'span' })).backgroundColor,
    );
    expect(ranks.slice(0, 3)).toEqual(['rgb(227, 179, 65)', 'rgb(185, 193, 204)', 'rgb(207, 139, 84)']);
    expect(new Set(ranks).size).toBe(4);
  });

  it('reads ideas every 10 s and leaders every 30 s without push', async () => {
    const { client } = open();
    await screen.findByText('No ideas submitted yet');
    const intervalOf = (endpoint: AnyEndpoint) =>
      client.getQueryCache().find({ queryKey: queryKeyOf(endpoint) })?.observers[0]?.options.refetchInterval;
    expect(intervalOf(ideasApi.list)).toBe(10_000);
    expect(intervalOf(ideasApi.leaderboard)).toBe(30_000);
  });

  it('shows a failed load in its place, without a toast, and reads again on Retry', async () => {
    server.use(
      signedIn(),
      on(ideasApi.list, () => refusal('internal')),
      on(ideasApi.leaderboard, () => refusal('internal')),
    );
    renderAt('/nice2have', <Nice2HavePage />);
    const notes = await screen.findAllByText('Could not refresh');
    expect(notes.length).toBeGreaterThan(0);
    expect(screen.getByRole('alert')).toBeEmptyDOMElement();
    // A board that could not be read is not empty.
    expect(screen.queryByText('0 ideas submitted')).not.toBeInTheDocument();
    server.use(on(ideasApi.list, () => HttpResponse.json([makeIdea('a')])));
    await person.click(screen.getAllByRole('button', { name: 'Retry' })[0] ?? document.body);
    expect(await screen.findByText('Text of a')).toBeInTheDocument();
  });
});

describe('a board of more than one page', () => {
  const MANY = Array.from({ length: 130 }, (_unused, index) => makeIdea(`i${index}`));

  function openMany() {
    const asked: Record<string, string>[] = [];
    server.use(
      signedIn(),
      on(ideasApi.counts, () =>
        HttpResponse.json({ total: 130, statuses: [{ status: 'planned', ideas: 3 }] }),
      ),
      on(ideasApi.list, (request) => {
        const query = Object.fromEntries(new URL(request.url).searchParams);
        asked.push(query);
        const start = Number(query['offset'] ?? 0);
        return HttpResponse.json(MANY.slice(start, start + sizeOf(request)));
      }),
      on(ideasApi.leaderboard, () => HttpResponse.json([])),
    );
    renderAt('/nice2have', <Nice2HavePage />);
    return asked;
  }

  it('counts all ideas and loads the next page on a press', async () => {
    const asked = openMany();
    expect(await screen.findByText('130 ideas submitted')).toBeInTheDocument();
    expect(screen.queryByText('Text of i100')).not.toBeInTheDocument();
    await person.click(await screen.findByText('Show more ideas'));
    expect(await screen.findByText('Text of i129')).toBeInTheDocument();
    expect(screen.queryByText('Show more ideas')).not.toBeInTheDocument();
    expect(asked[0]).toEqual({});
    expect(asked).toContainEqual({ limit: '100', offset: '100' });
  });

  it('requests the chosen order and status from the server', async () => {
    const asked = openMany();
    await screen.findByText('Text of i1');
    await person.selectOptions(screen.getByLabelText('Sort by'), 'My ideas');
    await person.selectOptions(screen.getByLabelText('Status'), 'planned');
    await expect
      .poll(() => asked.at(-1))
      .toEqual({ sort: 'newest', mine: '1', status: 'planned', limit: '100' });
  });
});

describe('submitting an idea', () => {
  it('refuses blank text and sends nothing', async () => {
    open();
    const sent: unknown[] = [];
    server.use(
      on(ideasApi.create, () => {
        sent.push('sent');
        return refusal('internal');
      }),
    );
    expect(screen.getByLabelText('Your Idea')).toBeRequired();
    expect(screen.getByLabelText('Your Name (Optional)')).not.toBeRequired();
    expect(screen.getByText('All suggestions are reviewed by our team.')).toBeInTheDocument();
    await person.type(screen.getByLabelText('Your Idea'), '   ');
    await person.click(screen.getByRole('button', { name: 'Submit Idea' }));
    expect(await screen.findByText('Please enter an idea')).toBeInTheDocument();
    expect(screen.getByRole('alert')).toHaveTextContent('Your idea description is required.');
    expect(sent).toEqual([]);
  });

  it('sends it as Anonymous, thanks, clears the form and reads the list again', async () => {
    const { reads } = open();
    await screen.findByText('No ideas submitted yet');
    const sent: unknown[] = [];
    const waiting: (() => void)[] = [];
    server.use(
      on(ideasApi.create, async (request) => {
        sent.push(await request.json());
        await new Promise<void>((resolve) => {
          waiting.push(resolve);
        });
        return HttpResponse.json(makeIdea('new', { text: 'Chapters' }));
      }),
    );
    const readsBefore = reads.ideas;
    await person.type(screen.getByLabelText('Your Idea'), ' Chapters ');
    await person.click(screen.getByRole('button', { name: 'Submit Idea' }));
    expect(await screen.findByRole('button', { name: 'Submitting...' })).toBeDisabled();
    await expect.poll(() => waiting.length).toBe(1);
    waiting[0]?.();
    expect(await screen.findByText('Idea submitted!')).toBeInTheDocument();
    expect(
      screen.getByText("Thanks for your suggestion! We'll review it and consider it for future updates."),
    ).toBeInTheDocument();
    expect(sent).toEqual([{ text: 'Chapters', userName: 'Anonymous' }]);
    await expect.poll(() => reads.ideas).toBe(readsBefore + 1);
    expect(screen.getByLabelText('Your Idea')).toHaveValue('');
  });

  it('keeps what was typed while the page is closed, for the user who typed it', async () => {
    const { client, rerender } = open();
    await screen.findByText('No ideas submitted yet');
    await person.type(screen.getByLabelText('Your Idea'), 'Chap');
    rerender(<p>Signed out</p>);
    rerender(<Nice2HavePage />);
    expect(screen.getByLabelText('Your Idea')).toHaveValue('Chap');
    act(() => client.setQueryData(SESSION_KEY, { ...user, id: 'user-2' }));
    await expect.poll(() => screen.getByLabelText('Your Idea')).toHaveValue('');
  });

  it.each([
    ['nothing', () => new HttpResponse(null, { status: 204 })],
    ['words', () => new HttpResponse('Created', { status: 201 })],
    ['another shape', () => HttpResponse.json({ ok: 1 })],
  ])('does not need the answer: %s is a success too', async (_name, answer) => {
    open();
    server.use(on(ideasApi.create, answer));
    await person.type(screen.getByLabelText('Your Idea'), 'Chapters');
    await person.click(screen.getByRole('button', { name: 'Submit Idea' }));
    expect(await screen.findByText('Idea submitted!')).toBeInTheDocument();
    expect(screen.getByLabelText('Your Idea')).toHaveValue('');
  });

  it('shows ideas of the whole board that are similar to the typed text, once typing pauses', async () => {
    open();
    const asked: (string | null)[] = [];
    server.use(
      on(ideasApi.similar, (request) => {
        asked.push(new URL(request.url).searchParams.get('text'));
        return HttpResponse.json(['x', 'y', 'z', 'w'].map((id) => makeIdea(id)));
      }),
    );
    await person.type(screen.getByLabelText('Your Idea'), 'captions');
    await person.type(screen.getByLabelText('Your Idea'), ' in colours');
    expect(await screen.findByText('Something like this is already on the board:')).toBeInTheDocument();
    expect(screen.getByText('Text of z')).toBeInTheDocument();
    expect(screen.queryByText('Text of w')).not.toBeInTheDocument();
    expect(asked).toEqual(['captions in colours']);
    await person.clear(screen.getByLabelText('Your Idea'));
    expect(screen.queryByText('Text of x')).not.toBeInTheDocument();
  });

  it('does not list an idea as similar to itself while it is being sent', async () => {
    open();
    let answer = (): void => undefined;
    server.use(
      on(ideasApi.similar, () => HttpResponse.json([makeIdea('x')])),
      on(ideasApi.create, async () => {
        await new Promise<void>((resolve) => {
          answer = resolve;
        });
        return refusal('internal');
      }),
    );
    await person.type(screen.getByLabelText('Your Idea'), 'captions in colours');
    expect(await screen.findByText('Text of x')).toBeInTheDocument();
    await person.click(screen.getByRole('button', { name: 'Submit Idea' }));
    expect(screen.queryByText('Text of x')).not.toBeInTheDocument();
    answer();
    expect(await screen.findByText('Failed to submit idea')).toBeInTheDocument();
  });

  it('keeps the typed text when sending failed', async () => {
    open();
    server.use(on(ideasApi.create, () => refusal('internal')));
    await person.type(screen.getByLabelText('Your Idea'), 'Chapters');
    await person.click(screen.getByRole('button', { name: 'Submit Idea' }));
    expect(await screen.findByText('Failed to submit idea')).toBeInTheDocument();
    expect(screen.getByText('Please try again.')).toBeInTheDocument();
    expect(screen.getByLabelText('Your Idea')).toHaveValue('Chapters');
  });
});

describe('voting', () => {
  it('thanks and reads the list again', async () => {
    const { reads } = open({ ideas: [makeIdea('a')] });
    server.use(on(ideasApi.vote, () => HttpResponse.json(makeIdea('a', { votes: 1, votedByMe: true }))));
    const button = await screen.findByRole('button', { name: 'Vote, 0 votes' });
    const readsBefore = reads.ideas;
    await person.click(button);
    expect(await screen.findByText('Vote recorded!')).toBeInTheDocument();
    expect(screen.getByText('Thanks for supporting this idea!')).toBeInTheDocument();
    await expect.poll(() => reads.ideas).toBe(readsBefore + 1);
  });

  it('says when it failed', async () => {
    open({ ideas: [makeIdea('a')] });
    server.use(on(ideasApi.vote, () => refusal('internal')));
    await person.click(await screen.findByRole('button', { name: 'Vote, 0 votes' }));
    expect(await screen.findByText('Vote failed')).toBeInTheDocument();
    expect(screen.getByText('Please try again.')).toBeInTheDocument();
  });

  it('does not need the answer: another shape is a success too', async () => {
    open({ ideas: [makeIdea('a')] });
    const sent: string[] = [];
    server.use(
      on(ideasApi.vote, async (request) => {
        sent.push(await request.text());
        return HttpResponse.json({ votes: 'one more' });
      }),
    );
    await person.click(await screen.findByRole('button', { name: 'Vote, 0 votes' }));
    expect(await screen.findByText('Vote recorded!')).toBeInTheDocument();
    expect(sent).toEqual(['']);
  });
});

describe('ReputationBadge', () => {
  it('exists in three sizes that differ', () => {
    render(
      <>
        <ReputationBadge points={0} size="sm" />
        <ReputationBadge points={50} size="md" />
        <ReputationBadge points={1000} size="lg" />
      </>,
    );
    const widths = ['newcomer', 'contributor', 'legend'].map((name) =>
      Number(screen.getByTestId(`reputation-badge-${name}`).querySelector('svg')?.getAttribute('width')),
    );
    expect(widths).toEqual(widths.toSorted((a, b) => a - b));
    expect(new Set(widths).size).toBe(3);
  });
});
