/** The same figures as a picture, or as a table for who reads with a screen reader or wants the numbers. */
export function ChartOrTable({
  asTable,
  onChange,
}: {
  asTable: boolean;
  onChange: (asTable: boolean) => void;
}) {
  return (
    <div class="segments" role="group" aria-label="Shown as">
      <button type="button" aria-pressed={!asTable} onClick={() => onChange(false)}>
        Chart
      </button>
      <button type="button" aria-pressed={asTable} onClick={() => onChange(true)}>
        Table
      </button>
    </div>
  );
}
