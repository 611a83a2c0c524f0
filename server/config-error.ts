/** A setting that cannot be used; the message names it and says what to do. */
export class ConfigError extends Error {}
