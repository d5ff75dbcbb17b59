const PATHS = {
  now: 'M10 2.8v2.6M10 14.6v2.6M2.8 10h2.6M14.6 10h2.6M4.9 4.9l1.8 1.8M13.3 13.3l1.8 1.8M4.9 15.1l1.8-1.8M13.3 6.7l1.8-1.8',
  threads: 'M3.2 4.5h10.6v7.4H8l-3 2.6v-2.6H3.2zM16.8 8.4v6.2h-1.6v2.1l-2.5-2.1H9.6',
  agents:
    'M4 8.2c0-1.2 1-2.2 2.2-2.2h7.6c1.2 0 2.2 1 2.2 2.2v5.6c0 1.2-1 2.2-2.2 2.2H6.2A2.2 2.2 0 0 1 4 13.8zM10 3v3M7.5 10.2v1.4M12.5 10.2v1.4',
  search: 'M9 3.6a5.4 5.4 0 1 1 0 10.8A5.4 5.4 0 0 1 9 3.6zM13 13l3.6 3.6',
  log: 'M4 5h12M4 10h12M4 15h7',
  system: 'M3.5 6.5h7M14 6.5h2.5M12 4.6v3.8M3.5 13.5H6M9.5 13.5h7M7.8 11.6v3.8',
  back: 'M12 4.5 6.5 10l5.5 5.5',
  right: 'M8 4.5 13.5 10 8 15.5',
  down: 'M10 4v11.5M5.2 10.8 10 15.6l4.8-4.8',
  more: 'M5 10h.01M10 10h.01M15 10h.01',
  check: 'm4.5 10.6 3.6 3.6 7.4-8',
  cross: 'M5.5 5.5l9 9M14.5 5.5l-9 9',
  bolt: 'M11 2.8 4.8 11.4h4.4L8.6 17.2l6.6-9h-4.6z',
  bell: 'M5.4 13.6c.9-1 1-2.2 1-4.3C6.4 6.6 8 5 10 5s3.6 1.6 3.6 4.3c0 2.1.1 3.3 1 4.3zM8.6 16h2.8M10 3.4V5',
  pause: 'M7 5v10M13 5v10',
  play: 'M7 4.8v10.4l8-5.2z',
  mute: 'M4 8.2v3.6h2.6L10 14.6V5.4L6.6 8.2zM13 8.2l3.6 3.6M16.6 8.2 13 11.8',
  unmute: 'M4 8.2v3.6h2.6L10 14.6V5.4L6.6 8.2zM13 7.6c1.5 1.3 1.5 3.5 0 4.8M15 5.6c2.6 2.3 2.6 6.5 0 8.8',
  send: 'M3.6 10 16.6 4l-4 12.6-3.2-5zM9.4 11.6 16.6 4',
  plus: 'M10 4.5v11M4.5 10h11',
  copy: 'M7.5 7.5h8v8h-8zM12.5 7.5v-3h-8v8h3',
  reply: 'M8 5.2 3.8 9.4 8 13.6M3.8 9.4h7.4c3 0 5 1.8 5 4.8v.8',
  side: 'M5 3.5v6.2c0 1.6 1.2 2.8 2.8 2.8H15M12 9.5l3 3-3 3',
  people:
    'M7.6 9.4a2.6 2.6 0 1 0 0-5.2 2.6 2.6 0 0 0 0 5.2zM2.8 15.8c.3-2.6 2.2-4.2 4.8-4.2s4.5 1.6 4.8 4.2M13 4.6a2.4 2.4 0 0 1 0 4.4M14 11.9c1.9.5 3 1.9 3.2 3.9',
  device: 'M5.5 3h9v14h-9zM9 14.6h2',
  key: 'M12.6 3.4a4 4 0 1 1-3.3 6.3L4 15v2h2.4v-2h2v-2.2l1.4-1.4M13.4 6.6h.01',
  info: 'M10 3.2a6.8 6.8 0 1 1 0 13.6 6.8 6.8 0 0 1 0-13.6zM10 9.2v4.2M10 6.6h.01',
  warn: 'M10 3.6 17 16H3zM10 8.4v3.4M10 13.8h.01',
  flag: 'M5 17V3.8M5 4.4c3-1.6 5 1.6 9.6 0v7c-4.6 1.6-6.6-1.6-9.6 0',
  commit: 'M10 7a3 3 0 1 1 0 6 3 3 0 0 1 0-6zM2.8 10H7M13 10h4.2',
  eye: 'M2.6 10c1.7-3.2 4.3-4.9 7.4-4.9s5.7 1.7 7.4 4.9c-1.7 3.2-4.3 4.9-7.4 4.9S4.3 13.2 2.6 10zM10 7.8a2.2 2.2 0 1 1 0 4.4 2.2 2.2 0 0 1 0-4.4z',
  know: 'M4 4.2h4.4c.9 0 1.6.7 1.6 1.6v10c0-.9-.7-1.6-1.6-1.6H4zM16 4.2h-4.4c-.9 0-1.6.7-1.6 1.6v10c0-.9.7-1.6 1.6-1.6H16z',
  page: 'M5.5 3h5.7l3.3 3.3V17h-9zM11 3.2v3.3h3.3',
  folder: 'M3 5.4h5l1.6 1.8H17v8.4H3z',
  pencil: 'M4 16l.8-3.4 8.4-8.4 2.6 2.6-8.4 8.4zM11.6 5.8l2.6 2.6',
  trash: 'M4.5 6h11M8 6V4.2h4V6M5.8 6l.7 10.4h7L14.2 6M8.6 9v4.6M11.4 9v4.6',
} as const;

export type IconName = keyof typeof PATHS;

/** A drawing of the app's own set; it never says anything that a word beside it does not say too. */
export function Icon({ name, size = 20 }: { name: IconName; size?: number }) {
  return (
    <svg
      class="icon"
      width={size}
      height={size}
      viewBox="0 0 20 20"
      fill="none"
      stroke="currentColor"
      stroke-width={name === 'more' ? 2.6 : 1.6}
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
