// The parts of ECharts that the report's charts are made of, and no others.
export { init } from "echarts/core";
import { use } from "echarts/core";
import { BarChart, HeatmapChart, LineChart } from "echarts/charts";
import { GridComponent, LegendComponent, MarkLineComponent, TooltipComponent, VisualMapContinuousComponent } from "echarts/components";
import { CanvasRenderer } from "echarts/renderers";

use([
  BarChart, HeatmapChart, LineChart,
  GridComponent, LegendComponent, MarkLineComponent, TooltipComponent, VisualMapContinuousComponent,
  CanvasRenderer,
]);
