/**
 * Whether an address belongs to the calls, the uploads or the socket, and not to a page or a file of the web client.
 */
export const isServicePath = (urlPath: string): boolean => /^\/(api|uploads|socket\.io)(\/|$)/.test(urlPath);
