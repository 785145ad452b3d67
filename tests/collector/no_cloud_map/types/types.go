// Package types has the types of the stand-in.
package types

// HealthStatusFilter says which machines are wanted.
type HealthStatusFilter string

// What the filter may be.
const (
	HealthStatusFilterHealthy          HealthStatusFilter = "HEALTHY"
	HealthStatusFilterUnhealthy        HealthStatusFilter = "UNHEALTHY"
	HealthStatusFilterAll              HealthStatusFilter = "ALL"
	HealthStatusFilterHealthyOrElseAll HealthStatusFilter = "HEALTHY_OR_ELSE_ALL"
)

// HttpInstanceSummary is a machine.
type HttpInstanceSummary struct {
	Attributes map[string]string
}
