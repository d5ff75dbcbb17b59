/** The sign of Parley: two who speak, and the line that is kept of it. */
export function Mark({ size = 28 }: { size?: number }) {
  return (
    <svg class="mark" width={size} height={size} viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="8" class="mark-ground" />
      <path class="mark-line" d="M8 10.5h9.5M8 16h16M14.5 21.5H24" />
    </svg>
  );
}
