/** The used part of a small S3 server that has no types of its own. */
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
    /** Middleware that each request passes, in this order. */
    readonly middleware: Middleware[];
    run(): Promise<{ readonly address: string; readonly port: number }>;
    close(): Promise<void>;
  }
}
