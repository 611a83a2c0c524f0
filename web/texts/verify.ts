/** Texts of the page that checks a certificate and its files. */
export const verifyTexts = {
  title: 'Check a repair',
  lead: 'A repair certificate says what was done to a clip, signed by the server that did it. Drop it here with the original and the mended clip: this page tells whether any of them was changed since.',
  local: 'Everything is computed in this browser. No file leaves this device, and no account is needed.',
  drop: {
    heading: 'Drop the certificate and the clips here',
    text: 'In any order, one by one or together. The repair report (JSON) can be checked too.',
    browse: 'Choose files',
    label: 'Certificate, clips and report',
    active: 'Let go to check them',
  },
  reading: (name: string, percent: number) => `Reading ${name}: ${percent} %`,
  again: 'Start again',
  result: 'Result',
  verdicts: {
    good: 'Genuine: certificate and clips are as they were issued.',
    bad: 'Not genuine: something here was changed or does not belong together.',
    open: 'Not decided yet.',
  },
  states: { good: 'Confirmed', bad: 'Not confirmed', open: 'Open' },
  findings: {
    signature_valid: (name: string) => `The signature of ${name} is valid: no byte of it was changed.`,
    signature_invalid: (name: string) =>
      `The signature of ${name} does not fit: the certificate was changed.`,
    signature_unsupported: () =>
      'This browser cannot check signatures (Ed25519) here. Use a current browser over https, or the command below.',
    certificate_changed: (name: string) =>
      `${name} is not in the form in which certificates are issued: it was changed.`,
    certificate_missing: () => 'Drop the certificate: without it there is nothing to compare with.',
    key_same: () => 'It was signed with the key of this server.',
    key_other: (name: string) =>
      `${name} was not signed by this server. If another one issued it, check it there: its address stands in the certificate.`,
    key_unknown: () => 'The key of this server could not be fetched, so it is not known who signed.',
    original_same: (name: string) => `${name} is the original, byte for byte.`,
    original_missing: () => 'Drop the original to compare it.',
    result_same: (name: string) => `${name} is the mended clip, byte for byte.`,
    result_missing: () => 'Drop the mended clip to compare it.',
    unchanged_same: (name: string) => `${name} is the original and the result: nothing in it was changed.`,
    report_same: (name: string) => `${name} is the report that was certified.`,
    report_other: (name: string) => `${name} is not the report that was certified.`,
    clip_other: (name: string) =>
      `${name} is neither the original nor the mended clip of this certificate. One changed byte is enough for that.`,
    waiting: (name: string) => `${name} is here and waits for its certificate.`,
    other_document: (name: string) =>
      `${name} is neither a certificate nor a repair report, nor a clip: it was left out.`,
    unreadable: (name: string) =>
      `${name} could not be read: it was cut short, changed or moved. Get it again from the page of the repair report.`,
  },
  says: {
    title: 'What the certificate says',
    issued: 'Issued',
    issuer: 'By',
    tools: 'With',
    key: 'Key',
    original: 'Original, checksum (SHA-256)',
    result: 'Mended clip, checksum (SHA-256)',
    claims: 'Issues',
    noClaims: 'Nothing was wrong.',
    more: (n: number) => `and ${n} more`,
  },
  command: {
    title: 'On the command line',
    text: 'The same check without a browser, on any machine with Node; with the report it measures every claim again with ffmpeg:',
    line: 'npm run verify -- original.mp4 mended.mp4 report.json --certificate certificate.json --key key.json',
    key: 'The public key of this server',
  },
} as const;
