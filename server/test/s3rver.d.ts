/** What the tests use of a small S3 server that brings no types. */
declare module 's3rver' {
  import type { Middleware } from 'koa';

  export default class S3rver {
    constructor(options: {
      readonly address: string;
      readonly port: number;
      readonly silent: boolean;
      readonly directory: string;
      readonly configureBuckets: readonly { readonly name: string }[];
    });
    /** What each request passes, the first first. */
    readonly middleware: Middleware[];
    run(): Promise<{ readonly address: string; readonly port: number }>;
    close(): Promise<void>;
  }
}
