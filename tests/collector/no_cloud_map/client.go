// Package servicediscovery stands in for AWS's client of Cloud Map where a Collector is built for tests: load_balancing can ask Cloud Map
// for its list of machines, our configuration does not, and not every module proxy serves the client.
package servicediscovery

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/service/servicediscovery/types"
)

// Client finds nothing.
type Client struct{}

// DiscoverInstancesInput says what is looked for.
type DiscoverInstancesInput struct {
	NamespaceName, ServiceName, OwnerAccount *string
	HealthStatus                             types.HealthStatusFilter
	MaxResults                               *int32
	OptionalParameters, QueryParameters      map[string]string
}

// DiscoverInstancesOutput says what was found.
type DiscoverInstancesOutput struct {
	Instances []types.HttpInstanceSummary
}

// NewFromConfig returns a client, whatever its configuration.
func NewFromConfig(any) *Client { return &Client{} }

// DiscoverInstances fails.
func (*Client) DiscoverInstances(context.Context, *DiscoverInstancesInput) (*DiscoverInstancesOutput, error) {
	return nil, errors.New("this Collector was built for tests, without AWS Cloud Map")
}
