/** A SHA-256 as 64 lower-case hexadecimal digits. */
export const SHA256_HEX = /^[0-9a-f]{64}$/;
