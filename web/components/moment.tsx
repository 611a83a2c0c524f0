const SHORT = { day: 'numeric', month: 'short', year: 'numeric' } as const;
// Created once, because a formatter takes a millisecond to create and every card of the library shows a date.
const FORMATS = {
  full: new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'medium' }),
  date: new Intl.DateTimeFormat(undefined, SHORT),
  time: new Intl.DateTimeFormat(undefined, { ...SHORT, hour: '2-digit', minute: '2-digit' }),
} as const;

interface MomentProps {
  /** ISO 8601. */
  readonly iso: string;
  readonly detail?: 'date' | 'time';
}

/** A date in the reader's language and time zone; the title has the full date. */
export function Moment({ iso, detail = 'time' }: MomentProps) {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return null;
  return (
    <time dateTime={iso} title={FORMATS.full.format(date)}>
      {FORMATS[detail].format(date)}
    </time>
  );
}
