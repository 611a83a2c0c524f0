const FULL = { dateStyle: 'full', timeStyle: 'medium' } as const;
const SHORT = { day: 'numeric', month: 'short', year: 'numeric' } as const;
const WITH_TIME = { ...SHORT, hour: '2-digit', minute: '2-digit' } as const;

interface MomentProps {
  /** ISO 8601. */
  readonly iso: string;
  readonly detail?: 'date' | 'time';
}

/** A date in the reader's language and zone; the full one stands in the title. */
export function Moment({ iso, detail = 'time' }: MomentProps) {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return null;
  const format = new Intl.DateTimeFormat(undefined, detail === 'date' ? SHORT : WITH_TIME);
  return (
    <time dateTime={iso} title={new Intl.DateTimeFormat(undefined, FULL).format(date)}>
      {format.format(date)}
    </time>
  );
}
