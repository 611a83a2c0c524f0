import { HttpResponse } from 'msw';
import { describe, expect, it } from 'vitest';
import { authApi } from '#common/api/auth.ts';
import { videosApi } from '#common/api/videos.ts';
import { on, refusal, server, user } from '../test/server.ts';
import { ApiError, callApi, serverMessageOf } from './api-client.ts';

async function failureOf(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => null,
    (error: unknown) => error,
  );
}

describe('callApi', () => {
  it('sends a body as JSON with cookies and parses the answer by the schema', async () => {
    const seen: unknown[] = [];
    server.use(
      on(authApi.login, async (request) => {
        seen.push(request.credentials, request.headers.get('content-type'), await request.json());
        return HttpResponse.json({ user, extra: 'dropped' });
      }),
    );
    const body = { username: 'mara-films', password: 'Secret-12' };
    expect(await callApi(authApi.login, { body })).toEqual({ user });
    expect(seen).toEqual(['include', 'application/json', body]);
  });

  it('sends neither body nor content type when there is none', async () => {
    const seen: unknown[] = [];
    server.use(
      on(authApi.logout, async (request) => {
        seen.push(request.headers.get('content-type'), await request.text());
        return HttpResponse.json({ message: 'bye' });
      }),
    );
    await callApi(authApi.logout);
    expect(seen).toEqual([null, '']);
  });

  it('inserts parameters and query into the address', async () => {
    const seen: string[] = [];
    server.use(
      on(authApi.verifyEmail, (request) => {
        seen.push(new URL(request.url).search);
        return HttpResponse.json({ message: 'ok' });
      }),
      on(videosApi.remove, (request) => {
        seen.push(new URL(request.url).pathname);
        return HttpResponse.json({ message: 'ok' });
      }),
    );
    await callApi(authApi.verifyEmail, { query: { token: 'a+b c' } });
    await callApi(videosApi.remove, { params: { id: 'x/y' } });
    expect(seen).toEqual(['?token=a%2Bb+c', '/api/videos/x%2Fy']);
  });

  it('turns a refusal into "{status}: {response text}" with the readable parts beside it', async () => {
    server.use(on(authApi.login, () => refusal('email_not_verified')));
    const error = await failureOf(callApi(authApi.login, { body: { username: 'a', password: 'b' } }));
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({
      message:
        '403: {"code":"email_not_verified","message":"Email not verified","error":"Email not verified"}',
      status: 403,
      code: 'email_not_verified',
      serverMessage: 'Email not verified',
    });
  });

  it('uses the status text when the body is empty', async () => {
    server.use(on(authApi.logout, () => new HttpResponse(null, { status: 502, statusText: 'Bad Gateway' })));
    expect(await failureOf(callApi(authApi.logout))).toMatchObject({ message: '502: Bad Gateway' });
  });

  it('keeps an error page of a proxy as text without inventing a server message', async () => {
    server.use(on(authApi.logout, () => new HttpResponse('<h1>No</h1>', { status: 500 })));
    const error = await failureOf(callApi(authApi.logout));
    expect(error).toMatchObject({ message: '500: <h1>No</h1>' });
    expect(serverMessageOf(error)).toBeUndefined();
  });

  it('treats plain words as the server message', async () => {
    server.use(on(authApi.login, () => new HttpResponse('Email not verified', { status: 403 })));
    const error = await failureOf(callApi(authApi.login, { body: { username: 'a', password: 'b' } }));
    expect(error).toMatchObject({ message: '403: Email not verified', serverMessage: 'Email not verified' });
  });

  it('passes a network failure through unchanged', async () => {
    server.use(on(authApi.logout, () => HttpResponse.error()));
    const error = await failureOf(callApi(authApi.logout));
    expect(error).toBeInstanceOf(TypeError);
  });

  it('refuses an answer of the wrong shape', async () => {
    server.use(on(videosApi.list, () => HttpResponse.json([{ id: 'v1' }])));
    expect(await failureOf(callApi(videosApi.list))).toHaveProperty('name', 'ZodError');
  });
});
