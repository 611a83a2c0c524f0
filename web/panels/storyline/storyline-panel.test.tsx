import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { HttpResponse } from 'msw';
import { describe, expect, it, vi } from 'vitest';
import { storylineApi, type StorylineDto, type StorylineStateDto } from '#common/api/storyline.ts';
import { renderAt } from '../../test/render.tsx';
import { makeVideo } from '../../test/samples.ts';
import { on, refusal, server } from '../../test/server.ts';
import { StorylinePanel } from './storyline-panel.tsx';

const person = userEvent.setup({ delay: null });
const NONE: StorylineStateDto = { state: 'none', progress: 0, message: null };
const READY: StorylineStateDto = { state: 'ready', progress: 100, message: null };
const scene = (n: number): StorylineDto['scenes'][number] => ({
  timestamp: `0:0${n}`,
  duration: '1.0 s',
  description: `Scene number ${n}.`,
  emotions: [],
  keyObjects: [],
  actions: [],
});
const voice = (n: number) => ({
  name: `Speaker ${n}`,
  description: 'A voice.',
  appearances: ['0:00 – 0:02'],
});

function story(change: Partial<StorylineDto> = {}): StorylineDto {
  return {
    title: 'Talk in 7 scenes, 0:12',
    summary: '7 scenes in 0:12.',
    confidence: 84,
    genre: 'Talk',
    mood: 'Calm',
    themes: ['One', 'Two', 'Three', 'Four', 'Five', 'Six'],
    characters: [1, 2, 3, 4].map(voice),
    scenes: [0, 1, 2, 3, 4, 5, 6].map(scene),
    ...change,
  };
}

/** Each read takes the next answer; the last one repeats. */
function open(
  states: readonly StorylineStateDto[],
  stories: readonly (StorylineDto | null)[],
  onJump?: (ms: number) => void,
) {
  const wishes: string[] = [];
  const reads = { state: 0, story: 0 };
  server.use(
    on(storylineApi.state, () => HttpResponse.json(states[Math.min(reads.state++, states.length - 1)])),
    on(storylineApi.get, () => {
      const answer = stories[Math.min(reads.story++, stories.length - 1)];
      return answer ? HttpResponse.json(answer) : refusal('not_found');
    }),
    on(storylineApi.analyze, () => {
      wishes.push('analyze');
      return HttpResponse.json({ jobId: 'j1' });
    }),
  );
  renderAt('/', <StorylinePanel video={makeVideo({ id: 'v1' })} {...(onJump ? { onJump } : {})} />);
  return wishes;
}

describe('StorylinePanel', () => {
  it('says that it is loading, and then that there is none', async () => {
    open([NONE], [null]);
    expect(screen.getByText('Loading the storyline...')).toBeInTheDocument();
    expect(await screen.findByRole('button', { name: 'Analyze' })).toBeEnabled();
    expect(screen.getByText('This version of the clip has no storyline yet.')).toBeInTheDocument();
  });

  it('does not request one that does not exist, because browsers log every 404 as an error', async () => {
    const reads: string[] = [];
    const states: StorylineStateDto[] = [
      { ...NONE, readable: false },
      { ...NONE, state: 'working', progress: 42, readable: false },
      { ...READY, readable: true },
    ];
    let at = 0;
    server.use(
      on(storylineApi.state, () => {
        reads.push('state');
        return HttpResponse.json(states[Math.min(at++, states.length - 1)]);
      }),
      on(storylineApi.get, () => {
        reads.push('story');
        return at === states.length ? HttpResponse.json(story()) : refusal('not_found');
      }),
      on(storylineApi.analyze, () => HttpResponse.json({ jobId: 'j1' })),
    );
    renderAt('/', <StorylinePanel video={makeVideo({ id: 'v1' })} />);
    expect(await screen.findByText('This version of the clip has no storyline yet.')).toBeInTheDocument();
    await person.click(screen.getByRole('button', { name: 'Analyze' }));
    expect(await screen.findByText('Analyzing the clip, 42 percent')).toBeInTheDocument();
    expect(await screen.findByText('Talk in 7 scenes, 0:12')).toBeInTheDocument();
    expect(reads).toEqual(['state', 'state', 'state', 'story']);
  });

  it('keeps the one of the previous version until there is another, and says so', async () => {
    open([{ ...NONE, earlier: true }], [story()]);
    expect(await screen.findByText(/^From the version before this one/)).toBeInTheDocument();
    expect(screen.getByRole('button', { name: 'Re-analyze' })).toBeEnabled();
    expect(screen.queryByText('This version of the clip has no storyline yet.')).not.toBeInTheDocument();
  });

  it('follows the requested analysis until the storyline is ready', async () => {
    const wishes = open([NONE, { ...NONE, state: 'working', progress: 42 }, READY], [null, story()]);
    await person.click(await screen.findByRole('button', { name: 'Analyze' }));
    expect(await screen.findByText('The analysis waits for its turn.')).toBeInTheDocument();
    expect(await screen.findByText('Analyzing the clip, 42 percent')).toBeInTheDocument();
    expect(screen.getByRole('progressbar')).toHaveAttribute('aria-valuenow', '42');
    expect(await screen.findByText('Talk in 7 scenes, 0:12')).toBeInTheDocument();
    expect(screen.getByRole('button', { name: 'Re-analyze' })).toBeEnabled();
    expect(wishes).toEqual(['analyze']);
  });

  it('shows 4 themes, 3 characters and 5 scenes, and the others on request', async () => {
    open([READY], [story()]);
    const part = async (name: string) => within(await screen.findByRole('region', { name }));
    const themes = await part('Themes');
    expect(themes.queryByText('Five')).not.toBeInTheDocument();
    expect(themes.getByRole('button', { name: '+2 more' })).toBeInTheDocument();
    const voices = await part('Voices');
    expect(voices.queryByText('Speaker 4')).not.toBeInTheDocument();
    expect(voices.getByRole('button', { name: '+1 more' })).toBeInTheDocument();
    const scenes = await part('Scenes');
    expect(scenes.getAllByRole('listitem')).toHaveLength(5);
    await person.click(scenes.getByRole('button', { name: '+2 more' }));
    expect(scenes.getAllByRole('listitem')).toHaveLength(7);
    expect(scenes.queryByRole('button', { name: /more/ })).not.toBeInTheDocument();
  });

  it.each([
    [80, 'High confidence, 80 %', '--ok'],
    [79, 'Medium confidence, 79 %', '--warn'],
    [60, 'Medium confidence, 60 %', '--warn'],
    [59, 'Low confidence, 59 %', '--defect'],
  ])('marks a confidence of %i as %s', async (confidence, text, tone) => {
    open([READY], [story({ confidence })]);
    expect(getComputedStyle(await screen.findByText(text)).color).toBe(`var(${tone})`);
  });

  it('plays a scene if there is a player', async () => {
    const jump = vi.fn();
    open([READY], [story()], jump);
    await person.click(await screen.findByRole('button', { name: 'Play the scene at 0:03' }));
    expect(jump).toHaveBeenCalledWith(3000);
  });

  it('can be requested when nothing is known about an analysis', async () => {
    server.use(
      on(storylineApi.state, () => refusal('internal')),
      on(storylineApi.get, () => refusal('not_found')),
    );
    renderAt('/', <StorylinePanel video={makeVideo({ id: 'v1' })} />);
    expect(await screen.findByRole('button', { name: 'Analyze' })).toBeEnabled();
    expect(screen.queryByText('Failed to fetch storyline')).not.toBeInTheDocument();
  });

  it('says when it could not be loaded, and loads again', async () => {
    server.use(
      on(storylineApi.state, () => refusal('internal')),
      on(storylineApi.get, () => refusal('internal')),
    );
    renderAt('/', <StorylinePanel video={makeVideo({ id: 'v1' })} />);
    expect(await screen.findByText('Failed to fetch storyline')).toBeInTheDocument();
    server.use(
      on(storylineApi.state, () => HttpResponse.json(READY)),
      on(storylineApi.get, () => HttpResponse.json(story())),
    );
    await person.click(screen.getByRole('button', { name: 'Retry' }));
    expect(await screen.findByText('Talk in 7 scenes, 0:12')).toBeInTheDocument();
  });

  it('says that an analysis cannot be followed at the moment, and goes on by itself', async () => {
    let away = true;
    open([{ state: 'working', progress: 40, message: null }], [null]);
    expect(await screen.findByText('Analyzing the clip, 40 percent')).toBeInTheDocument();
    server.use(
      on(storylineApi.state, () => (away ? HttpResponse.error() : HttpResponse.json(READY))),
      on(storylineApi.get, () => (away ? HttpResponse.error() : HttpResponse.json(story()))),
    );
    expect(await screen.findByText(/^Reelmend cannot be reached/)).toBeInTheDocument();
    expect(screen.queryByText('Failed to fetch storyline')).not.toBeInTheDocument();
    away = false;
    expect(await screen.findByText('7 scenes in 0:12.')).toBeInTheDocument();
    expect(screen.queryByText(/^Reelmend cannot be reached/)).not.toBeInTheDocument();
  });

  it('reports an analysis that failed while the user waited, with the reason', async () => {
    open([NONE, { ...NONE, state: 'failed', message: 'No picture could be read.' }], [null]);
    await person.click(await screen.findByRole('button', { name: 'Analyze' }));
    expect(await screen.findByText('Analysis Failed: No picture could be read.')).toBeInTheDocument();
    await waitFor(() => expect(screen.getByRole('alert')).toHaveTextContent('Analysis Failed'));
  });

  it('reports an analysis that could not be requested', async () => {
    open([NONE], [null]);
    server.use(on(storylineApi.analyze, () => refusal('internal')));
    await person.click(await screen.findByRole('button', { name: 'Analyze' }));
    await waitFor(() => expect(screen.getByRole('alert')).toHaveTextContent('Analysis Failed'));
    server.use(on(storylineApi.analyze, () => HttpResponse.error()));
    await person.click(screen.getByRole('button', { name: 'Analyze' }));
    await waitFor(() =>
      expect(screen.getByRole('alert')).toHaveTextContent(
        'Analysis FailedPlease try again.Reelmend cannot be reached right now: no connection.',
      ),
    );
  });
});
